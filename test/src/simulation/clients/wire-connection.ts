/**
 * One connection of a simulated client: bursts of requests out, replies and events in.
 *
 * It owns the stream, the xids and the outstanding requests, and never decides anything. A burst is
 * one write. `onNonsense` reports what a member must never send (an answer to no request, bytes
 * that are not a reply); the other handlers report everything else, in the order of the bytes.
 */
import {
  AUTH_XID,
  ConnectRequest,
  encode,
  JuteReader,
  JuteWriter,
  MarshallingError,
  PING_XID,
  SET_WATCHES_XID,
  WATCH_XID,
} from '@rookery/protocol';
import type { ByteStream } from '../../simulated.js';
import type { Invocation, Operation, Result } from '../contract/history.js';
import type { WatchLists } from './held-watches.js';
import { readLong, readResult, readText } from './reply-reader.js';
import { writeAuth, writeCloseSession, writeRequest, writeSetWatches } from './request-writer.js';

export interface Welcome {
  readonly session: number;
  readonly timeoutMs: number;
  readonly password: Uint8Array;
  readonly isReadOnly: boolean;
}

export interface ConnectionHandlers {
  onWelcome(welcome: Welcome): void;
  onReply(invocation: Invocation, result: Result): void;
  onEvent(event: { readonly type: number; readonly path: string; readonly zxid: number }): void;
  onWatchesSet(zxid: number): void;
  /** The users of its proofs are accepted. */
  onAuthenticated(): void;
  onSessionClosed(zxid: number): void;
  /** Called once; never after `leave`. */
  onLost(): void;
  onNonsense(what: string): void;
}

/** What is still reported of a connection after `leave`. */
export interface OverheardHandlers {
  /** For a reply or an event: the zxid of its header. */
  onHeader(zxid: number): void;
  onLost(): void;
}

const NO_BYTES = new Uint8Array(0);
const NO_PASSWORD = new Uint8Array(16);
/** Answered invocations are removed from the front of the list when it has this many. */
const COMPACT_AT = 256;

export class WireConnection {
  readonly #stream: ByteStream;
  readonly #handlers: ConnectionHandlers;
  readonly #writer = new JuteWriter();
  #rest: Uint8Array = NO_BYTES;
  #mayBeReadOnly = false;
  #isWelcome = false;
  #isLeft = false;
  #overheard: OverheardHandlers | null = null;
  /** From xid `#firstXid` on; null where the reply came, and for a closeSession. */
  #leaderQueue: (Invocation | null)[] = [];
  #firstXid = 1;
  /** The xid of the first entry that is not answered. */
  #head = 0;
  #pings: Invocation[] = [];
  #closeXid = 0;
  #setsWatches = false;
  /** The number of proofs without an answer. */
  #proofs = 0;
  #outstanding = 0;

  constructor(stream: ByteStream, handlers: ConnectionHandlers) {
    this.#stream = stream;
    this.#handlers = handlers;
    const onLost = () => this.#lose();
    stream.handle({
      onData: (chunk) => this.#onData(chunk),
      onEnd: onLost,
      onDrain: () => undefined,
      onClose: onLost,
    });
  }

  /** The number of requests without an answer, without pings. */
  get outstanding(): number {
    return this.#outstanding;
  }

  connect(asked: {
    readonly seenZxid: number;
    readonly timeoutMs: number;
    readonly session: Welcome | null;
    readonly readOnly?: true;
  }): void {
    const { seenZxid, timeoutMs, session, readOnly = false } = asked;
    this.#mayBeReadOnly = readOnly;
    const body = encode(ConnectRequest, {
      protocolVersion: 0,
      lastZxidSeen: seenZxid,
      timeoutMs,
      sessionId: session?.session ?? 0,
      password: session?.password ?? NO_PASSWORD,
      readOnly,
    });
    this.#writer.int(body.length);
    this.#writer.raw(body);
    this.flush();
  }

  /** The request is sent by the next flush. `invocation` is of this operation. */
  ask(operation: Operation, invocation: Invocation): void {
    if (operation.kind === 'ping') {
      this.#pings.push(invocation);
      writeRequest(this.#writer, PING_XID, operation);
      return;
    }
    this.#outstanding += 1;
    writeRequest(this.#writer, this.#nextXid(invocation), operation);
  }

  /** What is asked from now on is asked as this user, too. */
  prove(user: string): void {
    this.#proofs += 1;
    this.#outstanding += 1;
    writeAuth(this.#writer, user);
  }

  setWatches(lists: WatchLists, seenZxid: number): void {
    this.#setsWatches = true;
    this.#outstanding += 1;
    writeSetWatches(this.#writer, lists, seenZxid);
  }

  closeSession(): void {
    this.#outstanding += 1;
    this.#closeXid = this.#nextXid(null);
    writeCloseSession(this.#writer, this.#closeXid);
  }

  flush(): void {
    this.#stream.write(this.#writer.take());
  }

  stopReading(): void {
    this.#stream.pause();
  }
  resumeReading(): void {
    this.#stream.resume();
  }

  /** No further input is handled. Returns what was not answered, in order. */
  leave(): readonly Invocation[] {
    this.#isLeft = true;
    const left = this.#leaderQueue.filter((invocation) => invocation !== null);
    left.push(...this.#pings);
    this.#leaderQueue = [];
    this.#pings = [];
    return left.sort((one, other) => one.order - other.order);
  }

  /** After `leave`: reports only the headers of whatever arrives. */
  overhear(handlers: OverheardHandlers): void {
    this.#overheard = handlers;
  }

  /** After `overhear`; sent at once. */
  askOn(operation: Operation): void {
    const xid = operation.kind === 'ping' ? PING_XID : this.#nextXid(null);
    writeRequest(this.#writer, xid, operation);
    this.flush();
  }

  destroy(): void {
    this.#stream.destroy();
  }
  end(): void {
    this.#stream.end();
  }

  #nextXid(invocation: Invocation | null): number {
    return this.#firstXid + this.#leaderQueue.push(invocation) - 1;
  }

  #lose(): void {
    if (this.#isLeft) this.#overheard?.onLost();
    else this.#handlers.onLost();
  }

  #onData(chunk: Uint8Array): void {
    if (this.#isLeft && this.#overheard === null) return;
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    if (this.#overheard !== null) return this.#onOverheard(bytes, this.#overheard);
    const reader = new JuteReader(bytes);
    let start = 0;
    try {
      while (!this.#isLeft && reader.remaining >= 4) {
        const length = reader.int();
        if (length > reader.remaining) break;
        start = reader.position + length;
        this.#onFrame(reader);
        if (reader.position !== start && !this.#isLeft) {
          throw new MarshallingError(`a frame of ${length} bytes is not what was asked for`);
        }
      }
    } catch (error) {
      if (!(error instanceof MarshallingError)) throw error;
      this.#handlers.onNonsense(error.message);
    }
    this.#rest = start === bytes.length ? NO_BYTES : Uint8Array.prototype.slice.call(bytes, start);
  }

  #onOverheard(bytes: Uint8Array, { onHeader }: OverheardHandlers): void {
    let start = 0;
    while (bytes.length - start >= 4) {
      const reader = new JuteReader(bytes, start);
      const length = reader.int();
      if (length > reader.remaining) break;
      start = reader.position + length;
      // The xid.
      reader.int();
      onHeader(readLong(reader));
    }
    this.#rest = Uint8Array.prototype.slice.call(bytes, start);
  }

  #onFrame(reader: JuteReader): void {
    if (!this.#isWelcome) return this.#onConnectResponse(reader);
    const xid = reader.int();
    const zxid = readLong(reader);
    const error = reader.int();
    if (xid > 0) return this.#onReply(reader, { xid, zxid, error });
    switch (xid) {
      case WATCH_XID: {
        const type = reader.int();
        // The state: connected.
        reader.int();
        return this.#handlers.onEvent({ type, path: readText(reader), zxid });
      }
      case PING_XID: {
        const ping = this.#pings.shift();
        if (ping === undefined) throw new MarshallingError('a ping is answered that was not sent');
        return this.#answered(ping, readResult(reader, { xid, zxid, error }, ping.operation));
      }
      case AUTH_XID:
        if (this.#proofs === 0 || error !== 0) throw new MarshallingError(`a proof gets ${error}`);
        this.#proofs -= 1;
        this.#outstanding -= 1;
        return this.#handlers.onAuthenticated();
      case SET_WATCHES_XID:
        if (!this.#setsWatches) throw new MarshallingError('no watches were set');
        this.#setsWatches = false;
        this.#outstanding -= 1;
        return this.#handlers.onWatchesSet(zxid);
      default:
        throw new MarshallingError(`a reply with xid ${xid}`);
    }
  }

  #onConnectResponse(reader: JuteReader): void {
    // The version.
    reader.int();
    const timeoutMs = reader.int();
    const session = readLong(reader);
    const password = reader.buffer() ?? NO_PASSWORD;
    const isReadOnly = reader.bool();
    if (isReadOnly && !this.#mayBeReadOnly)
      throw new MarshallingError('a session is read-only that must not be');
    this.#isWelcome = true;
    const copy = Uint8Array.from(password);
    this.#handlers.onWelcome({ session, timeoutMs, password: copy, isReadOnly });
  }

  #onReply(reader: JuteReader, head: { xid: number; zxid: number; error: number }): void {
    const at = head.xid - this.#firstXid;
    const invocation = this.#leaderQueue[at];
    if (head.xid === this.#closeXid) {
      this.#closeXid = 0;
      this.#outstanding -= 1;
      return this.#handlers.onSessionClosed(head.zxid);
    }
    if (invocation === undefined || invocation === null) {
      throw new MarshallingError(`a reply with xid ${head.xid}, which nothing waits for`);
    }
    this.#leaderQueue[at] = null;
    if (at === this.#head) this.#head += 1;
    if (this.#head >= COMPACT_AT) {
      this.#leaderQueue.splice(0, this.#head);
      this.#firstXid += this.#head;
      this.#head = 0;
    }
    this.#outstanding -= 1;
    this.#answered(invocation, readResult(reader, head, invocation.operation));
  }

  #answered(invocation: Invocation, result: Result): void {
    this.#handlers.onReply(invocation, result);
  }
}
