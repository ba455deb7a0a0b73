/**
 * Whether a server knows pages of children's names (operation 10001), asked at no risk.
 *
 * ZooKeeper closes the connection on an operation that it does not know, and with it goes whatever
 * is in flight there; so nobody asks over a connection that matters. The question is put over one
 * of its own, in a session of its own that owns nothing: not by a version or a four-letter word,
 * which say what a server is called and may be switched off, but by the operation itself. A server
 * that refuses has closed before the session could be; that one ends by its short timeout.
 */
import {
  ConnectRequest,
  ConnectResponse,
  decode,
  ErrorCode,
  FrameReader,
  GetChildrenPageRequest,
  JuteReader,
  JuteWriter,
  OpCode,
  PASSWORD_BYTES,
} from '@rookery/protocol';
import type { Surroundings } from '../api/surroundings.js';
import type { Address, Dial, Link } from '../wire/link.js';

export interface ProbeOptions {
  readonly address: Address;
  readonly dial: Dial;
  readonly surroundings: Surroundings;
  /** Of the whole probe. */
  readonly timeoutMs: number;
}

/** Asked for; servers raise it to what they allow. */
const SESSION_TIMEOUT_MS = 1_000;
const FRAME_BYTES_MAX = 1 << 20;
const PAGE_XID = 1;
const CLOSE_XID = 2;

/**
 * True or false as the server has answered, null when it has not: out of reach, without quorum, too
 * busy for one more connection, or asking for credentials first.
 */
export function probePages(options: ProbeOptions): Promise<boolean | null> {
  return new Promise((resolve) => {
    const probe = new Probe(options, (known) => {
      cancel();
      resolve(known);
    });
    const cancel = options.surroundings.setTimer(options.timeoutMs, () => probe.end());
  });
}

class Probe {
  readonly #link: Link;
  readonly #frames = new FrameReader(FRAME_BYTES_MAX);
  readonly #onEnd: (known: boolean | null) => void;
  #phase: 'handshake' | 'asked' | 'ended' = 'handshake';
  #known: boolean | null = null;

  constructor(options: ProbeOptions, onEnd: (known: boolean | null) => void) {
    this.#onEnd = onEnd;
    this.#link = options.dial(options.address, {
      onOpen: () => this.#shakeHands(),
      onData: (chunk) => this.#onData(chunk),
      onClose: () => this.end(),
    });
  }

  end(): void {
    if (this.#phase === 'ended') return;
    this.#phase = 'ended';
    this.#link.destroy();
    this.#onEnd(this.#known);
  }

  #shakeHands(): void {
    this.#send((writer) =>
      ConnectRequest.write(writer, {
        protocolVersion: 0,
        lastZxidSeen: 0,
        timeoutMs: SESSION_TIMEOUT_MS,
        sessionId: 0,
        password: new Uint8Array(PASSWORD_BYTES),
        readOnly: false,
      }),
    );
  }

  #onData(chunk: Uint8Array): void {
    try {
      this.#frames.push(chunk);
      while (this.#phase !== 'ended') {
        const frame = this.#frames.next();
        if (frame === null) return;
        if (this.#phase === 'handshake') this.#onHandshake(decode(ConnectResponse, frame));
        else this.#onReply(new JuteReader(frame));
      }
    } catch {
      // Not a server that we understand: it has not answered the question.
      this.end();
    }
  }

  #onHandshake({ timeoutMs }: ConnectResponse): void {
    if (timeoutMs <= 0) {
      this.end();
      return;
    }
    this.#phase = 'asked';
    this.#send((writer) => {
      writer.int(PAGE_XID);
      writer.int(OpCode.getChildrenPage);
      const request = { path: '/', startAfter: '', limit: 1, watch: false };
      GetChildrenPageRequest.write(writer, request);
    });
  }

  #onReply(reader: JuteReader): void {
    const xid = reader.int();
    reader.long();
    const error = reader.int();
    if (xid === PAGE_XID && (error === ErrorCode.ok || error === ErrorCode.noAuth)) {
      this.#known = true;
      this.#closeSession();
      return;
    }
    if (xid === PAGE_XID && error === ErrorCode.unimplemented) this.#known = false;
    this.end();
  }

  /** Its answer, or whatever comes in its place, ends the probe. */
  #closeSession(): void {
    this.#send((writer) => {
      writer.int(CLOSE_XID);
      writer.int(OpCode.closeSession);
    });
  }

  #send(write: (writer: JuteWriter) => void): void {
    const writer = new JuteWriter();
    writer.beginFrame();
    write(writer);
    writer.endFrame();
    this.#link.write(writer.take());
  }
}
