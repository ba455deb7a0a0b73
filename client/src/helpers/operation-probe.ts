/**
 * Determines, without a risk, whether a server supports one of Rookery's own operations: pages of
 * children's names (10001), and raised sequence numbers (10002).
 *
 * ZooKeeper closes the connection when it receives an unknown operation, and all requests in flight
 * fail. So the probe uses a connection and a session of its own, which owns nothing. It tries the
 * operation itself, rather than a version or a four-letter word, because those tell the name of a
 * server and may be disabled. A server that does not support the operation closes the connection
 * before the session can be closed, so that session ends by its short timeout.
 *
 * The probe never changes a znode: it reads a page, or sends a number that every server refuses.
 * Called by the client's offers (offer.ts).
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
  RaiseSequenceRequest,
} from '@rookery/protocol';
import type { Surroundings } from '../api/surroundings.js';
import type { Address, Dial, Link } from '../wire/link.js';

/** The operation to probe. */
export type Asked = 'pages' | 'raisedSequences';

/**
 * `closed`: the server opened a session and closed the connection at the probe, as ZooKeeper does
 * and a stopping member may do. `unknown`: it is unreachable, has no quorum, refuses
 * another connection, or requires credentials first.
 */
export type ProbeAnswer = 'offered' | 'refused' | 'closed' | 'unknown';

export interface ProbeOptions {
  readonly asked: Asked;
  readonly address: Address;
  readonly dial: Dial;
  readonly surroundings: Surroundings;
  /** The time limit of the whole probe, in milliseconds. */
  readonly timeoutMs: number;
}

/** The timeout to request; servers raise it to their minimum. */
const SESSION_TIMEOUT_MS = 1_000;
const FRAME_BYTES_MAX = 1 << 20;
const ASKED_XID = 1;
const CLOSE_XID = 2;
/** Refused as an argument before the server checks anything else. */
const NO_NUMBER = -1;

/** The answers of a server that knows the operation. */
const ANSWERS = {
  pages: [ErrorCode.ok, ErrorCode.noAuth],
  raisedSequences: [ErrorCode.badArguments],
} as const satisfies Record<Asked, readonly ErrorCode[]>;

/**
 * Never rejects. The probe's session may still be closing, within the time limit, when this
 * resolves; no caller needs to wait for that.
 */
export function probeOperation(options: ProbeOptions): Promise<ProbeAnswer> {
  return new Promise((resolve) => {
    const probe = new Probe(options, { onAnswer: resolve, onEnd: () => cancel() });
    const cancel = options.surroundings.setTimer(options.timeoutMs, () => probe.end());
  });
}

interface ProbeEvents {
  /** Calls after the first one have no effect. */
  onAnswer(answer: ProbeAnswer): void;
  onEnd(): void;
}

class Probe {
  readonly #link: Link;
  readonly #frames = new FrameReader(FRAME_BYTES_MAX);
  readonly #events: ProbeEvents;
  readonly #asked: Asked;
  #phase: 'handshake' | 'asked' | 'ended' = 'handshake';

  constructor(options: ProbeOptions, events: ProbeEvents) {
    this.#events = events;
    this.#asked = options.asked;
    this.#link = options.dial(options.address, {
      onOpen: () => this.#shakeHands(),
      onData: (chunk) => this.#onData(chunk),
      onClose: () => this.end(this.#phase === 'asked' ? 'closed' : 'unknown'),
    });
  }

  end(answer: ProbeAnswer = 'unknown'): void {
    if (this.#phase === 'ended') return;
    this.#phase = 'ended';
    this.#link.destroy();
    this.#events.onEnd();
    this.#events.onAnswer(answer);
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
      writer.int(ASKED_XID);
      if (this.#asked === 'raisedSequences') {
        writer.int(OpCode.raiseSequence);
        RaiseSequenceRequest.write(writer, { path: '/', atLeast: NO_NUMBER });
        return;
      }
      writer.int(OpCode.getChildrenPage);
      const request = { path: '/', startAfter: '', limit: 1, watch: false };
      GetChildrenPageRequest.write(writer, request);
    });
  }

  #onReply(reader: JuteReader): void {
    const xid = reader.int();
    reader.long();
    const error = reader.int();
    const isAnswer = xid === ASKED_XID;
    if (isAnswer && ANSWERS[this.#asked].some((code) => code === error)) {
      this.#events.onAnswer('offered');
      this.#closeSession();
      return;
    }
    this.end(isAnswer && error === ErrorCode.unimplemented ? 'refused' : 'unknown');
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
