/**
 * Links whose sockets and heartbeats are in a worker thread, so that this thread may be busy for
 * longer than the session timeout without losing the session.
 *
 * Each client has one thread, started with its first link. What the server sends while this thread
 * is busy waits in the thread's port. A connection that is lost meanwhile is replaced when this
 * thread runs again.
 */
import type { ConnectionOptions } from 'node:tls';
import { Worker } from 'node:worker_threads';
import type { Address, Dial, Heart, Link, LinkEvents } from '../wire/link.js';
import type { FromWorker, ToWorker } from './messages.js';

export interface WorkerLinksOptions {
  /** The URL of the thread's module. */
  readonly thread: URL;
  /**
   * Asked for each connection; returns null for plain TCP, and only values that structured cloning
   * can copy, so no functions.
   */
  readonly tls: () => ConnectionOptions | null;
  readonly keepAlive: boolean;
  readonly frameBytesMax: number;
}

const NO_EVENTS: LinkEvents = {
  onOpen: () => undefined,
  onData: () => undefined,
  onClose: () => undefined,
};

export class WorkerLinks {
  readonly #options: WorkerLinksOptions;
  readonly #links = new Map<number, LinkEvents>();
  #worker: Worker | null = null;
  #lastLink = 0;

  constructor(options: WorkerLinksOptions) {
    this.#options = options;
  }

  readonly dial: Dial = (address, events) => {
    const link = ++this.#lastLink;
    this.#links.set(link, events);
    return new WorkerLink(link, address, this);
  };

  get options(): WorkerLinksOptions {
    return this.#options;
  }

  post(message: ToWorker): void {
    const thread = message.kind === 'dial' ? this.#thread() : this.#worker;
    thread?.postMessage(message);
  }

  forget(link: number): void {
    this.#links.delete(link);
  }

  /** Ends the thread and all links that are still open. */
  close(): void {
    this.#links.clear();
    const worker = this.#worker;
    this.#worker = null;
    // It never rejects, and nobody needs to know when the thread has ended.
    void worker?.terminate();
  }

  #thread(): Worker {
    if (this.#worker !== null) return this.#worker;
    const worker = new Worker(this.#options.thread);
    worker.on('message', (message: FromWorker) => this.#onMessage(message));
    worker.on('error', (error) => this.#onEnded(worker, error));
    worker.on('exit', () => this.#onEnded(worker, null));
    // After the listeners, because a listener for messages makes the thread keep the process alive.
    if (!this.#options.keepAlive) worker.unref();
    this.#worker = worker;
    return worker;
  }

  #onMessage(message: FromWorker): void {
    const events = this.#links.get(message.link) ?? NO_EVENTS;
    switch (message.kind) {
      case 'open':
        events.onOpen();
        break;
      case 'data':
        events.onData(message.bytes);
        break;
      case 'close':
        this.#links.delete(message.link);
        events.onClose(message.error);
        break;
    }
  }

  /**
   * Called whatever ended the thread. Its connections are lost, and the next dial starts another
   * one.
   */
  #onEnded(worker: Worker, error: Error | null): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    const lost = [...this.#links.values()];
    this.#links.clear();
    for (const events of lost) events.onClose(error);
  }
}

class WorkerLink implements Link {
  readonly heart: Heart;
  readonly #link: number;
  readonly #links: WorkerLinks;

  constructor(link: number, address: Address, links: WorkerLinks) {
    this.#link = link;
    this.#links = links;
    const { tls, frameBytesMax } = links.options;
    const answered = new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT);
    const clock = new BigInt64Array(answered);
    this.heart = {
      start: (beat) => links.post({ kind: 'beat', link, ...beat }),
      lastAnsweredMs: () => {
        const micros = Atomics.load(clock, 0);
        return micros === 0n ? Number.NEGATIVE_INFINITY : Number(micros) / 1000;
      },
    };
    links.post({ kind: 'dial', link, address, tls: tls(), frameBytesMax, answered });
  }

  write(bytes: Uint8Array): void {
    // Copies exactly these bytes; otherwise the whole buffer behind the view would be copied.
    this.#links.post({ kind: 'write', link: this.#link, bytes: Uint8Array.from(bytes) });
  }

  end(): void {
    this.#links.post({ kind: 'end', link: this.#link });
  }

  destroy(): void {
    this.#links.forget(this.#link);
    this.#links.post({ kind: 'destroy', link: this.#link });
  }
}
