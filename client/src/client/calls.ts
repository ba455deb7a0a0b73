/**
 * Turns operations into calls of the session, and the values of the wire into those of the API.
 */
import type { Codec, JuteReader, JuteWriter, Operation, Stat as WireStat } from '@rookery/protocol';
import type { Data, Stat } from '../api/values.js';
import type { Call } from '../session/call.js';

export interface CallParts<Body, Reply, T> {
  readonly path?: string;
  readonly isWrite?: boolean;
  readonly body: Body;
  /** Called while the frame of the reply is being handled. */
  result(reply: Reply): T;
  recover?(code: number): { readonly value: T } | null;
  onSettled?(): void;
}

export class OperationCall<Body, Reply, T> implements Call<T> {
  readonly opcode: number;
  readonly path: string | undefined;
  readonly isWrite: boolean;
  readonly #request: Codec<Body>;
  readonly #response: Codec<Reply>;
  readonly #parts: CallParts<Body, Reply, T>;

  constructor(opcode: number, operation: Operation<Body, Reply>, parts: CallParts<Body, Reply, T>) {
    this.opcode = opcode;
    this.path = parts.path;
    this.isWrite = parts.isWrite ?? false;
    this.#request = operation.request;
    this.#response = operation.response;
    this.#parts = parts;
  }

  write(writer: JuteWriter): void {
    this.#request.write(writer, this.#parts.body);
  }

  read(reader: JuteReader): T {
    return this.#parts.result(this.#response.read(reader));
  }

  recover(code: number): { readonly value: T } | null {
    return this.#parts.recover?.(code) ?? null;
  }

  onSettled(): void {
    this.#parts.onSettled?.();
  }
}

export function statOf(stat: WireStat): Stat {
  return {
    czxid: BigInt(stat.czxid),
    mzxid: BigInt(stat.mzxid),
    pzxid: BigInt(stat.pzxid),
    ctime: Number(stat.ctime),
    mtime: Number(stat.mtime),
    version: stat.version,
    cversion: stat.cversion,
    aversion: stat.aversion,
    ephemeralOwner: BigInt(stat.ephemeralOwner),
    dataLength: stat.dataLength,
    numChildren: stat.numChildren,
  };
}

/** Returns a copy that the caller owns. */
export function dataOf(view: Uint8Array | null): Buffer | null {
  return view === null ? null : Buffer.from(view);
}

/**
 * `copied` is true if the request may be written later, when the caller may have changed the bytes.
 */
export function bytesOf(data: Data, copied: boolean): Uint8Array | null {
  if (typeof data === 'string') return Buffer.from(data);
  return data !== null && copied ? Buffer.from(data) : data;
}
