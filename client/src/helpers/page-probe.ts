/**
 * Determines, without a risk, whether a server supports pages of children's names (operation
 * 10001).
 *
 * ZooKeeper closes the connection when it receives an unknown operation, and all requests in flight
 * fail. So the probe uses a connection and a session of its own, which owns nothing. It tries the
 * operation itself, rather than a version or a four-letter word, because those tell the name of a
 * server and may be disabled. A server that does not support the operation closes the connection
 * before the session can be closed, so that session ends by its short timeout.
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
  /** The time limit of the whole probe, in milliseconds. */
  readonly timeoutMs: number;
}

/** The timeout to request; servers raise it to their minimum. */
const SESSION_TIMEOUT_MS = 1_000;
const FRAME_BYTES_MAX = 1 << 20;
const PAGE_XID = 1;
const CLOSE_XID = 2;

/**
 * Resolves with the answer of the server, or with null if there is none: the server is unreachable,
 * has no quorum, refuses another connection, or requires credentials first. The session of the
 * probe may still be being closed then, within the time limit, because nobody has to wait for that.
 */
export function probePages(options: ProbeOptions): Promise<boolean | null> {
  return new Promise((resolve) => {
    const probe = new Probe(options, { onAnswer: resolve, onEnd: () => cancel() });
    const cancel = options.surroundings.setTimer(options.timeoutMs, () => probe.end());
  });
}

interface ProbeEvents {
  /** Calls after the first one have no effect. */
  onAnswer(known: boolean | null): void;
  onEnd(): void;
}

class Probe {
  readonly #link: Link;
  readonly #frames = new FrameReader(FRAME_BYTES_MAX);
  readonly #events: ProbeEvents;
  #phase: 'handshake' | 'asked' | 'ended' = 'handshake';

  constructor(options: ProbeOptions, events: ProbeEvents) {
    this.#events = events;
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
    this.#events.onEnd();
    this.#events.onAnswer(null);
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
      // The server sent something that cannot be understood, so it has not answered the question.
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
      this.#events.onAnswer(true);
      this.#closeSession();
      return;
    }
    if (xid === PAGE_XID && error === ErrorCode.unimplemented) this.#events.onAnswer(false);
    this.end();
  }

  /** The answer to the close, or anything that comes instead, ends the probe. */
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
