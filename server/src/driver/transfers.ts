/**
 * Bulk transfers: to a learner, a snapshot of the tree and history that is only on disk
 * (Transfers); from a leader, a snapshot (SnapshotReceiver).
 *
 * Both run beside the core. A snapshot goes on when the learner has written a chunk, history when
 * the link has room, so what other messages wait behind is bounded. What follows a snapshot is not
 * sent before the learner has verified it, because the learner would have to keep it in memory. At
 * the end the core is told and continues. When its link is lost, a transfer simply ends, and the
 * learner starts over on its next link. So it does when a transfer meets damage of this disk: the
 * next one waits until the damage is repaired, and sends what was repaired.
 */
import {
  type CoreMessage,
  formatZxid,
  type PeerId,
  type PeerMessage,
  type SnapshotChunk,
  type Zxid,
} from '@rookery/protocol';
import type { Timers } from '../net/timers.js';
import type { ReplicatedState } from '../state/replicated-state.js';
import type { SnapshotSink, SnapshotSource } from '../storage/contract.js';
import { DamagedError, HistoryGoneError, SnapshotDamagedError } from '../storage/errors.js';
import type { Storage } from '../storage/storage.js';
import type { LinkId, ZabInput } from '../zab/index.js';
import type { DriverParts } from './parts.js';
import type { StateKeeper } from './state-keeper.js';

/** What a transfer needs from the driver. */
interface TransferLinks {
  isUp(peer: PeerId, link: LinkId): boolean;
  /** Sends the message in this turn. */
  send(peer: PeerId, link: LinkId, message: PeerMessage): void;
  /** Bytes that this process has buffered for the peer. */
  queuedBytes(peer: PeerId, link: LinkId): number;
  drop(peer: PeerId, link: LinkId, reason: string): void;
  onSnapshotSent(peer: PeerId, link: LinkId, zxid: Zxid): void;
  onHistorySent(peer: PeerId, link: LinkId, through: Zxid): void;
  /** The disk here is known to be damaged, and not repaired yet. */
  isDamaged(): boolean;
  /** A transfer has met damage. */
  onDamage(error: DamagedError): void;
  /** History up to `base` cannot be read any more and was given up. */
  onUnreadable(base: Zxid, reason: string): void;
}

interface TransferLimits {
  /** How long a transfer may make no progress before its link is dropped, in ms. */
  readonly transferTimeoutMs: number;
}

/** The number of chunks that the learner may not have written yet. */
const CHUNKS_IN_FLIGHT_MAX = 4;
/** History is sent while the link has no more than this buffered, in bytes. */
const QUEUED_BYTES_MAX = 1 << 20;
const QUEUE_CHECK_MS = 2;
const REPAIR_CHECK_MS = 20;

interface Acknowledged {
  readonly link: LinkId;
  index: number;
  /** The number of chunks sent. */
  sent: number;
  wake: (() => void) | null;
}

/** What a snapshot waits for, while log and LevelDB snapshot are pinned. */
interface Wait {
  /** The number of chunks that need not be acknowledged. */
  readonly left: number;
  /** The time from one acknowledgement to the next. */
  readonly patienceMs: number;
  /** Why the link is dropped otherwise. */
  readonly reason: string;
}

export class Transfers {
  readonly #storage: Storage;
  readonly #timers: Timers;
  readonly #links: TransferLinks;
  readonly #patienceMs: number;
  readonly #acknowledged = new Map<PeerId, Acknowledged>();

  constructor(storage: Storage, timers: Timers, links: TransferLinks, limits: TransferLimits) {
    this.#patienceMs = limits.transferTimeoutMs;
    this.#storage = storage;
    this.#timers = timers;
    this.#links = links;
  }

  /** The number of snapshots that are being sent. */
  get snapshotsUnderWay(): number {
    return this.#acknowledged.size;
  }

  onSnapshotAck(peer: PeerId, link: LinkId, index: number): void {
    const acknowledged = this.#acknowledged.get(peer);
    if (acknowledged?.link !== link) return;
    if (index >= acknowledged.sent) {
      this.#links.drop(peer, link, `it acknowledges chunk ${index}, which was never sent`);
      return;
    }
    // An acknowledgement of what was acknowledged before is no progress.
    if (index <= acknowledged.index) return;
    acknowledged.index = index;
    acknowledged.wake?.();
  }

  onDisconnected(peer: PeerId, link: LinkId): void {
    const acknowledged = this.#acknowledged.get(peer);
    if (acknowledged?.link === link) acknowledged.wake?.();
  }

  /** Wakes transfers that wait for an acknowledgement, so they notice that their link is gone. */
  stop(): void {
    for (const acknowledged of this.#acknowledged.values()) acknowledged.wake?.();
  }

  async sendSnapshot(peer: PeerId, link: LinkId): Promise<void> {
    const acknowledged: Acknowledged = { link, index: -1, sent: 0, wake: null };
    this.#acknowledged.set(peer, acknowledged);
    try {
      if (await this.#isWhole(peer, link)) await this.#sendTree(peer, link, acknowledged);
    } catch (error) {
      if (!(error instanceof DamagedError)) throw error;
      this.#onDamage(peer, link, error);
    } finally {
      if (this.#acknowledged.get(peer) === acknowledged) this.#acknowledged.delete(peer);
    }
  }

  /** False if the link was lost before the disk here was whole. */
  async #isWhole(peer: PeerId, link: LinkId): Promise<boolean> {
    while (this.#links.isUp(peer, link)) {
      if (!this.#links.isDamaged()) return true;
      await this.#pause(REPAIR_CHECK_MS);
    }
    return false;
  }

  #onDamage(peer: PeerId, link: LinkId, error: DamagedError): void {
    this.#links.onDamage(error);
    this.#links.drop(
      peer,
      link,
      `the disk here is damaged and is repaired first: ${error.message}`,
    );
  }

  async #sendTree(peer: PeerId, link: LinkId, acknowledged: Acknowledged): Promise<void> {
    const source = await this.#storage.openSnapshot();
    try {
      const beganAtMs = this.#timers.nowMs();
      if (!(await this.#sendChunks(peer, acknowledged, source))) return;
      this.#links.onSnapshotSent(peer, link, source.zxid);
      // A large tree takes long to read back, but hardly twice as long as to send and to write it.
      const patienceMs = Math.max(this.#patienceMs, 2 * (this.#timers.nowMs() - beganAtMs));
      const reason = `it has not verified the snapshot in ${Math.round(patienceMs)} ms`;
      const wait = { left: 0, patienceMs, reason };
      // The log that follows the snapshot is pinned until the core has asked for more of it.
      if (await this.#acknowledges(peer, acknowledged, wait)) {
        this.#links.onHistorySent(peer, link, source.zxid);
      }
    } finally {
      await source.close();
    }
  }

  async #sendChunks(peer: PeerId, to: Acknowledged, source: SnapshotSource): Promise<boolean> {
    const wait: Wait = {
      left: CHUNKS_IN_FLIGHT_MAX - 1,
      patienceMs: this.#patienceMs,
      reason: 'it takes no more of the snapshot',
    };
    for await (const records of source.records()) {
      if (!(await this.#acknowledges(peer, to, wait))) return false;
      this.#links.send(peer, to.link, { kind: 'snapshotChunk', index: to.sent, records });
      to.sent += 1;
    }
    return this.#links.isUp(peer, to.link);
  }

  /** False if the link is gone, or was dropped because the learner acknowledged nothing in time. */
  async #acknowledges(peer: PeerId, to: Acknowledged, wait: Wait): Promise<boolean> {
    while (this.#links.isUp(peer, to.link)) {
      if (to.sent - 1 - to.index <= wait.left) return true;
      if (await this.#acknowledgedInTime(to, wait.patienceMs)) continue;
      this.#links.drop(peer, to.link, wait.reason);
    }
    return false;
  }

  #acknowledgedInTime(to: Acknowledged, patienceMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = this.#timers.after(patienceMs, () => resolve(false));
      to.wake = () => {
        timer.cancel();
        resolve(true);
      };
    });
  }

  /** Sends history in (after, through]. With an empty range it only waits for room. */
  async sendHistory(peer: PeerId, link: LinkId, after: Zxid, through: Zxid): Promise<void> {
    try {
      for await (const batch of this.#storage.readHistory(after, through)) {
        if (!(await this.#hasRoomInTime(peer, link))) return;
        this.#links.send(peer, link, { kind: 'propose', batch });
      }
    } catch (error) {
      if (error instanceof DamagedError) return this.#onDamage(peer, link, error);
      if (!(error instanceof HistoryGoneError)) throw error;
      if (error.cause !== undefined) {
        this.#links.onUnreadable(this.#storage.base, error.message);
      }
      this.#links.drop(peer, link, `the log it needs is gone: ${error.message}`);
      return;
    }
    if (await this.#hasRoomInTime(peer, link)) this.#links.onHistorySent(peer, link, through);
  }

  /** False if the link is gone. A link without progress for too long is dropped. */
  async #hasRoomInTime(peer: PeerId, link: LinkId): Promise<boolean> {
    let waitedMs = 0;
    let before = Number.POSITIVE_INFINITY;
    while (this.#links.isUp(peer, link)) {
      const queued = this.#links.queuedBytes(peer, link);
      if (queued <= QUEUED_BYTES_MAX) return true;
      waitedMs = queued < before ? 0 : waitedMs + QUEUE_CHECK_MS;
      if (waitedMs > this.#patienceMs) {
        this.#links.drop(peer, link, 'it takes no more of the log');
        return false;
      }
      before = queued;
      await this.#pause(QUEUE_CHECK_MS);
    }
    return false;
  }

  #pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.#timers.after(delayMs, resolve);
    });
  }
}

interface BulkHooks {
  readonly keeper: StateKeeper;
  /** Each call runs in a turn of its own, or in the one that is open. */
  step(input: ZabInput): void;
  send(peer: PeerId, link: LinkId, message: PeerMessage): void;
  fail(error: unknown): void;
}

interface BulkTransfers {
  readonly transfers: Transfers;
  readonly receiver: SnapshotReceiver;
}

/**
 * Connects the bulk transfers to and from learners with the turns, core and links of a driver.
 *
 * It holds only the wiring: each report of a transfer becomes one input of the core.
 */
export function bulkTransfers(parts: DriverParts, hooks: BulkHooks): BulkTransfers {
  const drop = (peer: PeerId, link: LinkId, reason: string): void =>
    parts.peerPort().disconnect(peer, link, reason);
  const links = {
    isUp: (peer: PeerId, link: LinkId) => parts.peerPort().isUp(peer, link),
    send: hooks.send,
    queuedBytes: (peer: PeerId, link: LinkId) => parts.peerPort().queuedBytes(peer, link),
    drop,
    onSnapshotSent: (peer: PeerId, link: LinkId, zxid: Zxid) =>
      hooks.step({ kind: 'snapshotSent', peer, link, zxid }),
    onHistorySent: (peer: PeerId, link: LinkId, through: Zxid) =>
      hooks.step({ kind: 'historySent', peer, link, through }),
    isDamaged: () => hooks.keeper.repair.damage !== null,
    onDamage: (error: DamagedError) => hooks.keeper.repair.onDamage(error),
    onUnreadable: (base: Zxid, reason: string) => {
      parts.logger.warn({ base: formatZxid(base), reason }, 'log.unreadable');
      hooks.step({ kind: 'purged', base });
    },
  };
  const transfers = new Transfers(parts.storage, parts.timers, links, parts.options);
  const receiver = new SnapshotReceiver(parts.storage, parts.options, {
    newState: () => parts.newState(),
    expectedFrom: () => parts.zab.snapshotFrom,
    acknowledge: (peer, link, index) => hooks.send(peer, link, { kind: 'snapshotAck', index }),
    onVerified: (zxid, state) => hooks.keeper.onVerified(zxid, state),
    onMessage: (peer, link, message) => hooks.step({ kind: 'message', peer, link, message }),
    onRefused: drop,
    onFatal: hooks.fail,
  });
  return { transfers, receiver };
}

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

/**
 * The learner's side of a snapshot: writes the chunks as they arrive, then lets the core continue.
 *
 * SnapshotDone and every later message of the link wait here until all chunks are durable and the
 * tree has been read back and has the announced digest. So the core's installSnapshot always finds
 * a complete snapshot, and a forged one only costs the sender its link. Only the leader that
 * announced a snapshot may send it. When the link is lost, what has arrived is abandoned. The tree
 * in use does not change before the installation.
 */
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
