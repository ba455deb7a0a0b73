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
  type SnapshotChunk,
  type Zxid,
} from '@rookery/protocol';
import type { ReplicatedState } from '../state/replicated-state.js';
import type { SnapshotSink, SnapshotSource } from '../storage/contract.js';
import { DamagedError, HistoryGoneError, SnapshotDamagedError } from '../storage/errors.js';
import type { LinkId } from '../zab/index.js';
import type { DamageRepair } from './damage-repair.js';
import type { DriverActions, DriverParts } from './parts.js';

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
  readonly #parts: DriverParts;
  readonly #driver: DriverActions;
  readonly #repair: DamageRepair;
  readonly #acknowledged = new Map<PeerId, Acknowledged>();

  constructor(parts: DriverParts, driver: DriverActions, repair: DamageRepair) {
    this.#parts = parts;
    this.#driver = driver;
    this.#repair = repair;
  }

  /** The number of snapshots that are being sent. */
  get snapshotsUnderWay(): number {
    return this.#acknowledged.size;
  }

  onSnapshotAck(peer: PeerId, link: LinkId, index: number): void {
    const acknowledged = this.#acknowledged.get(peer);
    if (acknowledged?.link !== link) return;
    if (index >= acknowledged.sent) {
      this.#drop(peer, link, `it acknowledges chunk ${index}, which was never sent`);
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
    while (this.#parts.peerPort.isUp(peer, link)) {
      if (this.#repair.damage === null) return true;
      await this.#pause(REPAIR_CHECK_MS);
    }
    return false;
  }

  #onDamage(peer: PeerId, link: LinkId, error: DamagedError): void {
    this.#repair.onDamage(error);
    this.#drop(peer, link, `the disk here is damaged and is repaired first: ${error.message}`);
  }

  async #sendTree(peer: PeerId, link: LinkId, acknowledged: Acknowledged): Promise<void> {
    const source = await this.#parts.storage.openSnapshot();
    try {
      const beganAtMs = this.#parts.timers.nowMs();
      if (!(await this.#sendChunks(peer, acknowledged, source))) return;
      this.#driver.step({ kind: 'snapshotSent', peer, link, zxid: source.zxid });
      // A large tree takes long to read back, but hardly twice as long as to send and to write it.
      const patienceMs = Math.max(
        this.#parts.options.transferTimeoutMs,
        2 * (this.#parts.timers.nowMs() - beganAtMs),
      );
      const reason = `it has not verified the snapshot in ${Math.round(patienceMs)} ms`;
      const wait = { left: 0, patienceMs, reason };
      // The log that follows the snapshot is pinned until the core has asked for more of it.
      if (await this.#acknowledges(peer, acknowledged, wait)) {
        this.#driver.step({ kind: 'historySent', peer, link, through: source.zxid });
      }
    } finally {
      await source.close();
    }
  }

  async #sendChunks(peer: PeerId, to: Acknowledged, source: SnapshotSource): Promise<boolean> {
    const wait: Wait = {
      left: CHUNKS_IN_FLIGHT_MAX - 1,
      patienceMs: this.#parts.options.transferTimeoutMs,
      reason: 'it takes no more of the snapshot',
    };
    for await (const records of source.records()) {
      if (!(await this.#acknowledges(peer, to, wait))) return false;
      this.#driver.send(peer, to.link, { kind: 'snapshotChunk', index: to.sent, records });
      to.sent += 1;
    }
    return this.#parts.peerPort.isUp(peer, to.link);
  }

  /** False if the link is gone, or was dropped because the learner acknowledged nothing in time. */
  async #acknowledges(peer: PeerId, to: Acknowledged, wait: Wait): Promise<boolean> {
    while (this.#parts.peerPort.isUp(peer, to.link)) {
      if (to.sent - 1 - to.index <= wait.left) return true;
      if (await this.#acknowledgedInTime(to, wait.patienceMs)) continue;
      this.#drop(peer, to.link, wait.reason);
    }
    return false;
  }

  #acknowledgedInTime(to: Acknowledged, patienceMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = this.#parts.timers.after(patienceMs, () => resolve(false));
      to.wake = () => {
        timer.cancel();
        resolve(true);
      };
    });
  }

  /** Sends history in (after, through]. With an empty range it only waits for room. */
  async sendHistory(peer: PeerId, link: LinkId, after: Zxid, through: Zxid): Promise<void> {
    try {
      for await (const batch of this.#parts.storage.readHistory(after, through)) {
        if (!(await this.#hasRoomInTime(peer, link))) return;
        this.#driver.send(peer, link, { kind: 'propose', batch });
      }
    } catch (error) {
      if (error instanceof DamagedError) return this.#onDamage(peer, link, error);
      if (!(error instanceof HistoryGoneError)) throw error;
      if (error.cause !== undefined) this.#onUnreadable(error.message);
      this.#drop(peer, link, `the log it needs is gone: ${error.message}`);
      return;
    }
    if (await this.#hasRoomInTime(peer, link)) {
      this.#driver.step({ kind: 'historySent', peer, link, through });
    }
  }

  /** History that cannot be read any more is given up. */
  #onUnreadable(reason: string): void {
    const { logger, storage } = this.#parts;
    const { base } = storage;
    logger.warn({ base: formatZxid(base), reason }, 'log.unreadable');
    this.#driver.step({ kind: 'purged', base });
  }

  /** False if the link is gone. A link without progress for too long is dropped. */
  async #hasRoomInTime(peer: PeerId, link: LinkId): Promise<boolean> {
    let waitedMs = 0;
    let before = Number.POSITIVE_INFINITY;
    while (this.#parts.peerPort.isUp(peer, link)) {
      const queued = this.#parts.peerPort.queuedBytes(peer, link);
      if (queued <= QUEUED_BYTES_MAX) return true;
      waitedMs = queued < before ? 0 : waitedMs + QUEUE_CHECK_MS;
      if (waitedMs > this.#parts.options.transferTimeoutMs) {
        this.#drop(peer, link, 'it takes no more of the log');
        return false;
      }
      before = queued;
      await this.#pause(QUEUE_CHECK_MS);
    }
    return false;
  }

  #drop(peer: PeerId, link: LinkId, reason: string): void {
    this.#parts.peerPort.disconnect(peer, link, reason);
  }

  #pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.#parts.timers.after(delayMs, resolve);
    });
  }
}

/** Keeps the content of a verified snapshot until the core has it installed: StateKeeper. */
interface VerifiedStates {
  onVerified(zxid: Zxid, state: ReplicatedState): void;
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
  readonly #parts: DriverParts;
  readonly #driver: DriverActions;
  readonly #keeper: VerifiedStates;
  #incoming: Incoming | null = null;
  #writes: Promise<void> = Promise.resolve();

  constructor(parts: DriverParts, driver: DriverActions, keeper: VerifiedStates) {
    this.#parts = parts;
    this.#driver = driver;
    this.#keeper = keeper;
  }

  /** Resolves when the chunk is durable or no longer wanted; rejects when the disk fails. */
  onChunk(peer: PeerId, link: LinkId, chunk: SnapshotChunk): Promise<void> {
    if (this.#parts.zab.snapshotFrom !== peer) {
      this.#drop(peer, link, 'it sends a snapshot that nobody waits for');
      return Promise.resolve();
    }
    const isNew = this.#incoming?.peer !== peer || this.#incoming.link !== link;
    if (isNew && chunk.index === 0) this.#begin(peer, link);
    const incoming = this.#incoming;
    if (incoming?.peer !== peer || incoming.link !== link || chunk.index !== incoming.nextIndex) {
      this.#drop(peer, link, `snapshot chunk ${chunk.index} out of order`);
      return Promise.resolve();
    }
    incoming.nextIndex += 1;
    incoming.pending += 1;
    this.#writes = this.#writes.then(() => this.#write(incoming, chunk));
    return this.#writes;
  }

  /** Returns true if the message waits behind the snapshot; the core gets it later. */
  holds(peer: PeerId, link: LinkId, message: CoreMessage): boolean {
    const incoming = this.#incoming;
    if (incoming?.peer !== peer || incoming.link !== link) {
      if (message.kind !== 'snapshotDone') return false;
      this.#drop(peer, link, 'it ends a snapshot that it never began');
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
    if (incoming.waitingBytes > this.#parts.options.snapshotWaitingBytesMax) {
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
    const sink = this.#writes.then(() => this.#parts.storage.beginSnapshot());
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
    if (chunk.index > 0) this.#acknowledge(incoming, chunk.index - 1);
    this.#maybeRelease(incoming);
  }

  #maybeRelease(incoming: Incoming): void {
    if (incoming.pending > 0 || incoming.waiting === null || incoming.isChecked) return;
    incoming.isChecked = true;
    this.#writes = this.#writes.then(() => this.#verify(incoming));
    this.#writes.catch((error: unknown) => this.#driver.fail(error));
  }

  async #verify(incoming: Incoming): Promise<void> {
    const sink = await incoming.sink;
    if (this.#incoming !== incoming) return;
    const state = this.#parts.newState();
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
    this.#keeper.onVerified(zxid, state);
    this.#acknowledge(incoming, nextIndex - 1);
    for (const message of waiting ?? []) {
      this.#driver.step({ kind: 'message', peer, link, message });
    }
  }

  /** Tells the sender that the chunks up to this one are durable, or all of them verified. */
  #acknowledge({ peer, link }: Incoming, index: number): void {
    this.#driver.send(peer, link, { kind: 'snapshotAck', index });
  }

  /** Drops the link, whose end abandons the snapshot. */
  #refuse(incoming: Incoming, reason: string): void {
    this.#drop(incoming.peer, incoming.link, reason);
  }

  #drop(peer: PeerId, link: LinkId, reason: string): void {
    this.#parts.peerPort.disconnect(peer, link, reason);
  }

  async #abandon(incoming: Incoming): Promise<void> {
    this.#writes = this.#writes.then(async () => (await incoming.sink).abandon());
    await this.#writes;
  }
}
