/**
 * An operation as the session sees it: how its request is written and how its reply is read. Types
 * only.
 *
 * Calls are made by the operations in ../client and know nothing of queues, deadlines or
 * connections.
 */
import type { JuteReader, JuteWriter } from '@rookery/protocol';

export interface Call<T> {
  readonly opcode: number;
  /** The server's path that the operation concerns, chroot included, for errors and diagnostics. */
  readonly path: string | undefined;
  /** Whether it is unknown, after a lost reply, if the operation changed something. */
  readonly isWrite: boolean;
  /** Writes the body of the request, which follows the header. */
  write(writer: JuteWriter): void;
  /**
   * Reads the body of the reply. Called once, in the order of the replies, before the promise
   * resolves.
   */
  read(reader: JuteReader): T;
  /**
   * Turns an error code of the server into a result, for operations in which it is one; else null.
   */
  recover?(code: number): { readonly value: T } | null;
  /** Called once when the operation is settled, whatever its result. */
  onSettled?(): void;
}
