/**
 * The worker thread, with the sockets of a client and their heartbeats. Started by worker-link.ts.
 *
 * It parses frames only as far as necessary. From when it sends heartbeats, which begins between
 * two frames, it splits the stream into frames to filter the replies to its own heartbeats. Before
 * that it passes everything on, including what is not frames (answers to four-letter words). A link
 * is silent if a heartbeat waits for its reply and nothing at all was received for the given time.
 */
import { parentPort } from 'node:worker_threads';
import { assert, FrameReader, JuteReader, JuteWriter, OpCode, PING_XID } from '@rookery/protocol';
import { hrtimeMs } from '../defaults/surroundings.js';
import { socketDial } from '../wire/dial.js';
import type { Link } from '../wire/link.js';
import type { FromWorker, ToWorker } from './messages.js';

type DialMessage = Extract<ToWorker, { readonly kind: 'dial' }>;

assert(parentPort !== null, 'this file is started as a worker thread');
const port = parentPort;
const links = new Map<number, BeatingLink>();

function tell(message: FromWorker): void {
  port.postMessage(message);
}

port.on('message', (message: ToWorker) => {
  if (message.kind === 'dial') {
    links.set(message.link, new BeatingLink(message));
    return;
  }
  const link = links.get(message.link);
  switch (message.kind) {
    case 'write':
      link?.write(message.bytes);
      break;
    case 'beat':
      link?.startBeating(message);
      break;
    case 'end':
      link?.end();
      break;
    case 'destroy':
      link?.destroy();
      break;
  }
});

class BeatingLink {
  readonly #number: number;
  readonly #socket: Link;
  readonly #frames: FrameReader;
  readonly #out = new JuteWriter();
  readonly #answered: BigInt64Array;
  #lastReceivedMs = hrtimeMs();
  /** When the heartbeat that waits for its reply was sent, or NaN. */
  #beatSentMs = Number.NaN;
  #interval: NodeJS.Timeout | null = null;

  constructor(message: DialMessage) {
    this.#number = message.link;
    this.#frames = new FrameReader(message.frameBytesMax);
    this.#answered = new BigInt64Array(message.answered);
    const dial = socketDial({ tls: () => message.tls, keepAlive: true });
    this.#socket = dial(message.address, {
      onOpen: () => tell({ kind: 'open', link: this.#number }),
      onData: (chunk) => this.#onData(chunk),
      onClose: (error) => this.#close(error),
    });
  }

  write(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  end(): void {
    this.#socket.end();
  }

  destroy(): void {
    if (this.#interval !== null) clearInterval(this.#interval);
    links.delete(this.#number);
    this.#socket.destroy();
  }

  startBeating(beat: { readonly intervalMs: number; readonly silenceMs: number }): void {
    this.#lastReceivedMs = hrtimeMs();
    this.#interval = setInterval(() => this.#beat(beat.silenceMs), beat.intervalMs / 2);
    this.#beat(beat.silenceMs);
  }

  #beat(silenceMs: number): void {
    const nowMs = hrtimeMs();
    if (Number.isNaN(this.#beatSentMs)) {
      this.#beatSentMs = nowMs;
      this.#out.beginFrame();
      this.#out.int(PING_XID);
      this.#out.int(OpCode.ping);
      this.#out.endFrame();
      this.#socket.write(this.#out.take());
    } else if (nowMs - this.#lastReceivedMs >= silenceMs) {
      this.#close(
        new Error(`the server was silent for ${Math.round(nowMs - this.#lastReceivedMs)} ms`),
      );
    }
  }

  #onData(chunk: Uint8Array): void {
    this.#lastReceivedMs = hrtimeMs();
    if (this.#interval === null) {
      tell({ kind: 'data', link: this.#number, bytes: Uint8Array.from(chunk) });
      return;
    }
    this.#frames.push(chunk);
    try {
      for (let frame = this.#frames.next(); frame !== null; frame = this.#frames.next()) {
        if (this.#isPong(frame)) this.#onPong();
        else this.#out.buffer(frame);
      }
    } catch (error) {
      this.#flush();
      this.#close(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    this.#flush();
  }

  /** Frames are passed on with their lengths, in one buffer, which the other side splits again. */
  #flush(): void {
    if (this.#out.length === 0) return;
    const bytes = this.#out.take();
    tell({ kind: 'data', link: this.#number, bytes: Uint8Array.from(bytes) });
  }

  #isPong(frame: Uint8Array): boolean {
    if (Number.isNaN(this.#beatSentMs) || frame.length < 4) return false;
    return new JuteReader(frame).int() === PING_XID;
  }

  #onPong(): void {
    Atomics.store(this.#answered, 0, BigInt(Math.round(this.#beatSentMs * 1000)));
    this.#beatSentMs = Number.NaN;
  }

  #close(error: Error | null): void {
    this.destroy();
    tell({ kind: 'close', link: this.#number, error });
  }
}
