/**
 * The learner's side of a snapshot: writes chunks as they come, then lets the core go on.
 *
 * SnapshotDone and all that follows it on the link wait here until every chunk is durable, so the
 * core's installSnapshot finds a whole snapshot. A lost link abandons what came in; the tree in
 * use is untouched until the flip.
 */
import {
  type CoreMessage,
  type PeerId,
  packProposals,
  type SnapshotChunk,
} from '@rookery/protocol';
import { SnapshotDamagedError } from '../storage/errors.js';
import type { SnapshotSink, Storage } from '../storage/storage.js';
import type { LinkId } from '../zab/index.js';

export interface ReceiverHooks {
  /** The chunk is durable: tell the sender. */
  onWritten(peer: PeerId, link: LinkId, index: number): void;
  /** A message that waited; in the order it came. */
  onMessage(peer: PeerId, link: LinkId, message: CoreMessage): void;
  /** The snapshot cannot be used: drop the link. */
  onRefused(peer: PeerId, link: LinkId, reason: string): void;
}

interface Incoming {
  readonly peer: PeerId;
  readonly link: LinkId;
  readonly sink: Promise<SnapshotSink>;
  nextIndex: number;
  /** Chunks taken in and not yet durable. */
  pending: number;
  /** Null until SnapshotDone came; then what waits behind the last chunk. */
  waiting: CoreMessage[] | null;
  waitingBytes: number;
}

/** Proposals that may wait behind a snapshot that is still being written, bytes. */
const WAITING_BYTES_MAX = 64 << 20;

export class SnapshotReceiver {
  readonly #storage: Storage;
  readonly #hooks: ReceiverHooks;
  #incoming: Incoming | null = null;
  #writes: Promise<void> = Promise.resolve();

  constructor(storage: Storage, hooks: ReceiverHooks) {
    this.#storage = storage;
    this.#hooks = hooks;
  }

  /** Resolves when the chunk is durable or no longer wanted; rejects when the disk fails. */
  onChunk(peer: PeerId, link: LinkId, chunk: SnapshotChunk): Promise<void> {
    if (chunk.index === 0) this.#begin(peer, link);
    const incoming = this.#incoming;
    if (incoming?.peer !== peer || incoming.link !== link) return Promise.resolve();
    if (chunk.index !== incoming.nextIndex) {
      this.#refuse(incoming, `snapshot chunk ${chunk.index} out of order`);
      return Promise.resolve();
    }
    incoming.nextIndex += 1;
    incoming.pending += 1;
    this.#writes = this.#writes.then(() => this.#write(incoming, chunk));
    return this.#writes;
  }

  /** True: the message waits behind the snapshot and comes back by `onMessage`. */
  holds(peer: PeerId, link: LinkId, message: CoreMessage): boolean {
    const incoming = this.#incoming;
    if (incoming?.peer !== peer || incoming.link !== link) return false;
    if (message.kind === 'ping' || message.kind === 'vote') return false;
    if (message.kind === 'snapshotDone') incoming.waiting ??= [];
    if (incoming.waiting === null) return false;
    incoming.waiting.push(message);
    if (message.kind === 'propose')
      incoming.waitingBytes += packProposals(message.proposals).length;
    if (incoming.waitingBytes > WAITING_BYTES_MAX) {
      this.#refuse(incoming, 'the disk here cannot keep up with the snapshot');
      return true;
    }
    this.#maybeRelease(incoming);
    return true;
  }

  onDisconnected(peer: PeerId, link: LinkId): Promise<void> {
    const incoming = this.#incoming;
    if (incoming?.peer !== peer || incoming.link !== link) return Promise.resolve();
    this.#incoming = null;
    return this.#abandon(incoming);
  }

  #begin(peer: PeerId, link: LinkId): void {
    const sink = this.#writes.then(() => this.#storage.beginSnapshot());
    this.#writes = sink.then(() => undefined);
    this.#incoming = { peer, link, sink, nextIndex: 0, pending: 0, waiting: null, waitingBytes: 0 };
  }

  async #write(incoming: Incoming, chunk: SnapshotChunk): Promise<void> {
    const sink = await incoming.sink;
    if (this.#incoming !== incoming) return;
    try {
      await sink.write(chunk.records);
    } catch (error) {
      if (!(error instanceof SnapshotDamagedError)) throw error;
      this.#refuse(incoming, `the snapshot is damaged: ${error.message}`);
      return;
    }
    if (this.#incoming !== incoming) return;
    incoming.pending -= 1;
    this.#hooks.onWritten(incoming.peer, incoming.link, chunk.index);
    this.#maybeRelease(incoming);
  }

  #maybeRelease(incoming: Incoming): void {
    if (incoming.pending > 0 || incoming.waiting === null) return;
    this.#incoming = null;
    const { peer, link, waiting } = incoming;
    for (const message of waiting) this.#hooks.onMessage(peer, link, message);
  }

  /** The link is dropped, and with its end the snapshot is abandoned. */
  #refuse(incoming: Incoming, reason: string): void {
    this.#hooks.onRefused(incoming.peer, incoming.link, reason);
  }

  async #abandon(incoming: Incoming): Promise<void> {
    this.#writes = this.#writes.then(async () => (await incoming.sink).abandon());
    await this.#writes;
  }
}
