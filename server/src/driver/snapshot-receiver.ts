/**
 * The learner's side of a snapshot: writes the chunks as they arrive, then lets the core continue.
 *
 * SnapshotDone and every later message of the link wait here until all chunks are durable and the
 * tree has been read back and has the announced digest. So the core's installSnapshot always finds
 * a complete snapshot, and a forged one only costs the sender its link. Only the leader that
 * announced a snapshot may send it. When the link is lost, what has arrived is abandoned. The tree
 * in use does not change before the installation.
 */
import type { CoreMessage, PeerId, SnapshotChunk, Zxid } from '@rookery/protocol';
import type { ReplicatedState } from '../state/replicated-state.js';
import type { SnapshotSink } from '../storage/contract.js';
import { SnapshotDamagedError } from '../storage/errors.js';
import type { Storage } from '../storage/storage.js';
import type { LinkId } from '../zab/index.js';

interface ReceiverHooks {
  /** Tells the sender that the chunks up to this one are durable, or all of them verified. */
  acknowledge(peer: PeerId, link: LinkId, index: number): void;
  /** Makes an empty state, for the content of the snapshot. */
  newState(): ReplicatedState;
  /** The peer whose snapshot the core waits for; null if it waits for none. */
  expectedFrom(): PeerId | null;
  /** The snapshot at `zxid` is verified; `state` has its content. */
  onVerified(zxid: Zxid, state: ReplicatedState): void;
  /** Passes on a message that has waited. The order of messages is kept. */
  onMessage(peer: PeerId, link: LinkId, message: CoreMessage): void;
  /** The snapshot cannot be used; the link is to be dropped. */
  onRefused(peer: PeerId, link: LinkId, reason: string): void;
  /** The disk failed. */
  onFatal(error: unknown): void;
}

interface ReceiverLimits {
  /** Bytes of proposals that may wait behind a snapshot that is still being written. */
  readonly snapshotWaitingBytesMax: number;
}

interface Incoming {
  readonly peer: PeerId;
  readonly link: LinkId;
  readonly sink: Promise<SnapshotSink>;
  nextIndex: number;
  /** Chunks that have arrived and are not durable yet. */
  pending: number;
  /** Null before SnapshotDone; afterwards the messages that wait behind the last chunk. */
  waiting: CoreMessage[] | null;
  waitingBytes: number;
  /** The zxid that SnapshotDone names. */
  zxid: Zxid;
  /** Everything has arrived and is being read back. */
  isChecked: boolean;
}

export class SnapshotReceiver {
  readonly #storage: Storage;
  readonly #hooks: ReceiverHooks;
  readonly #limits: ReceiverLimits;
  #incoming: Incoming | null = null;
  #writes: Promise<void> = Promise.resolve();

  constructor(storage: Storage, limits: ReceiverLimits, hooks: ReceiverHooks) {
    this.#storage = storage;
    this.#limits = limits;
    this.#hooks = hooks;
  }

  /** Resolves when the chunk is durable or no longer wanted; rejects when the disk fails. */
  onChunk(peer: PeerId, link: LinkId, chunk: SnapshotChunk): Promise<void> {
    if (this.#hooks.expectedFrom() !== peer) {
      this.#hooks.onRefused(peer, link, 'it sends a snapshot that nobody waits for');
      return Promise.resolve();
    }
    const isNew = this.#incoming?.peer !== peer || this.#incoming.link !== link;
    if (isNew && chunk.index === 0) this.#begin(peer, link);
    const incoming = this.#incoming;
    if (incoming?.peer !== peer || incoming.link !== link || chunk.index !== incoming.nextIndex) {
      this.#hooks.onRefused(peer, link, `snapshot chunk ${chunk.index} out of order`);
      return Promise.resolve();
    }
    incoming.nextIndex += 1;
    incoming.pending += 1;
    this.#writes = this.#writes.then(() => this.#write(incoming, chunk));
    return this.#writes;
  }

  /** Returns true if the message waits behind the snapshot; `onMessage` passes it on later. */
  holds(peer: PeerId, link: LinkId, message: CoreMessage): boolean {
    const incoming = this.#incoming;
    if (incoming?.peer !== peer || incoming.link !== link) {
      if (message.kind !== 'snapshotDone') return false;
      this.#hooks.onRefused(peer, link, 'it ends a snapshot that it never began');
      return true;
    }
    if (message.kind === 'ping' || message.kind === 'vote') return false;
    if (message.kind === 'snapshotDone' && incoming.waiting === null) {
      incoming.waiting = [];
      incoming.zxid = message.zxid;
    }
    if (incoming.waiting === null) return false;
    incoming.waiting.push(message);
    if (message.kind === 'propose') incoming.waitingBytes += message.batch.bytes.length;
    if (incoming.waitingBytes > this.#limits.snapshotWaitingBytesMax) {
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
    const counts = { nextIndex: 0, pending: 0, waitingBytes: 0, zxid: 0 };
    this.#incoming = { peer, link, sink, ...counts, waiting: null, isChecked: false };
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
    // The newest chunk may be the last one, which is acknowledged once all are verified.
    if (chunk.index > 0) this.#hooks.acknowledge(incoming.peer, incoming.link, chunk.index - 1);
    this.#maybeRelease(incoming);
  }

  #maybeRelease(incoming: Incoming): void {
    if (incoming.pending > 0 || incoming.waiting === null || incoming.isChecked) return;
    incoming.isChecked = true;
    this.#writes = this.#writes.then(() => this.#verify(incoming));
    this.#writes.catch(this.#hooks.onFatal);
  }

  async #verify(incoming: Incoming): Promise<void> {
    const sink = await incoming.sink;
    if (this.#incoming !== incoming) return;
    const state = this.#hooks.newState();
    try {
      await sink.verify(incoming.zxid, state);
    } catch (error) {
      if (!(error instanceof SnapshotDamagedError)) throw error;
      this.#refuse(incoming, `the snapshot is damaged: ${error.message}`);
      return;
    }
    if (this.#incoming !== incoming) return;
    this.#incoming = null;
    const { peer, link, waiting, zxid, nextIndex } = incoming;
    this.#hooks.onVerified(zxid, state);
    this.#hooks.acknowledge(peer, link, nextIndex - 1);
    for (const message of waiting ?? []) this.#hooks.onMessage(peer, link, message);
  }

  /** Asks for the end of the link, which abandons the snapshot. */
  #refuse(incoming: Incoming, reason: string): void {
    this.#hooks.onRefused(incoming.peer, incoming.link, reason);
  }

  async #abandon(incoming: Incoming): Promise<void> {
    this.#writes = this.#writes.then(async () => (await incoming.sink).abandon());
    await this.#writes;
  }
}
