/**
 * What an operation is to the session: how it is written, how its reply is read. Types only.
 *
 * Made by the operations in ../client; knows nothing of queues, deadlines or connections.
 */
import type { JuteReader, JuteWriter } from '@rookery/protocol';

export interface Call<T> {
  readonly opcode: number;
  /** The server's path it is about, chroot included; for errors and diagnostics. */
  readonly path: string | undefined;
  /** Whether a lost reply leaves open if something was changed. */
  readonly isWrite: boolean;
  /** The request's body, behind the header. */
  write(writer: JuteWriter): void;
  /** The reply's body; called once, in the order of the wire, before the promise resolves. */
  read(reader: JuteReader): T;
  /** Makes a result of an error of the server's, if for this operation it is one. */
  recover?(code: number): { readonly value: T } | null;
  /** Called once when it is settled, whatever came of it. */
  onSettled?(): void;
}
