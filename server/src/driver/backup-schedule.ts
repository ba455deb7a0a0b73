/**
 * Decides when this member takes a scheduled backup. Each member decides for itself, so the others
 * have their backups whichever member is down.
 *
 * Backups are numbered by time: slot n begins at n * `everyMs` of the wall clock. In each slot the
 * followers are due in the order of their ids, STAGGER_MS apart, and the leader is due last. A
 * member that is due and has not heard of a backup takes it, and tells all others while it is under
 * way and once it is done. So a member that is down, or that failed, delays the backup by
 * STAGGER_MS, and two members that do not hear of each other take two backups, which harms nothing.
 * A leader takes one only where no follower did. After a failure a member tries again after
 * RETRY_MS.
 *
 * Old backups are removed before, to make room, and after. Where that fails it is reported by
 * itself: a backup that is saved counts, and the next ones go on.
 */
import {
  type BackupNews,
  errorMessage,
  formatZxid,
  type PeerId,
  type Zxid,
} from '@rookery/protocol';
import type { Logger } from 'pino';
import type { BackupFigures } from '../net/member-view.js';
import type { PeerSender } from '../net/peer-port.js';
import type { Timers } from '../net/timers.js';
import type { LeftFile, OpenedBackup } from '../offline/index.js';
import type { RoleName, RoleView } from '../zab/index.js';

export interface SavedBackup {
  readonly path: string;
  readonly zxid: Zxid;
  readonly znodes: number;
  readonly bytes: number;
}

export interface PrunedBackups {
  readonly removed: number;
  /** Files that should be gone and cannot be removed. */
  readonly left: readonly LeftFile[];
  /** Entries with the name of a backup that are none, such as links and directories. */
  readonly passedOver: readonly string[];
}

/** Makes backups and keeps them; `backup-keeper.ts` implements it. */
export interface BackupTaker {
  /** When the newest backup was written, ms since 1970; null for none. */
  newestMs(): Promise<number | null>;
  /** Rejects with an Error that says why there is none. */
  save(open: () => Promise<OpenedBackup>, treeBytes: number): Promise<SavedBackup>;
  /** Removes what the rule does not keep. Rejects where the directory cannot be read. */
  prune(): Promise<PrunedBackups>;
  /** Ends what is under way. */
  stop(): void;
}

interface BackupPlan {
  readonly id: PeerId;
  /** All that are configured. */
  readonly members: readonly PeerId[];
  readonly everyMs: number;
}

/** The member whose state is backed up. */
interface BackedUpMember {
  readonly treeBytes: number;
  openBackup(): Promise<OpenedBackup>;
}

/** The time between the members' due times in a slot. */
export const STAGGER_MS = 20_000;
/** A member that failed waits this long before it tries again. */
export const RETRY_MS = 10 * 60_000;
const TELL_MS = 5000;
/** The time before the first member is due, in which news of an existing backup may come. */
export const SETTLE_MS = 5000;
/** How long news of a backup that is under way counts. */
const UNDER_WAY_MS = 3 * TELL_MS;

export class BackupSchedule {
  readonly #plan: BackupPlan;
  readonly #member: BackedUpMember;
  readonly #taker: BackupTaker | null;
  readonly #timers: Timers;
  readonly #logger: Logger;
  readonly #figures = {
    lastSavedWallMs: 0,
    lastDurationMs: 0,
    lastBytes: 0,
    saved: 0,
    failed: 0,
    isFailing: false,
    pruneFailed: 0,
    isPruneFailing: false,
    isUnderWay: false,
  };
  /** The newest slot that is known to have its backup. */
  #doneSlot = -1;
  /** Whether this member took the backup of that slot, and so tells the others of it. */
  #isOwn = false;
  /** Other members that take a backup: its slot, and when they said so. */
  readonly #underWay = new Map<PeerId, { readonly slot: number; readonly atMs: number }>();
  /** The slot and the role in which this member waits until it is due, and since when. */
  #waiting = { slot: -1, role: 'looking' as RoleName, leader: 0, sinceMs: 0 };
  #notBeforeMs = Number.NEGATIVE_INFINITY;
  #toldMs = Number.NEGATIVE_INFINITY;
  #passedOver: string | null = null;
  #isReady = false;
  #isStopped = false;

  /** Without a taker nothing is ever due. */
  constructor(
    plan: BackupPlan,
    member: BackedUpMember,
    taker: BackupTaker | null,
    timers: Timers,
    logger: Logger,
  ) {
    this.#plan = plan;
    this.#member = member;
    this.#taker = taker;
    this.#timers = timers;
    this.#logger = logger;
    if (taker !== null) void this.#readNewest(taker);
  }

  /** Null where no backups are configured. */
  get figures(): BackupFigures | null {
    return this.#taker === null ? null : this.#figures;
  }

  onHeartbeat(role: RoleView, port: PeerSender): void {
    const taker = this.#taker;
    if (taker === null || !this.#isReady || this.#isStopped) return;
    const slot = this.#slotOf(this.#timers.wallMs());
    this.#forgetWrongClock(slot);
    this.#wait(slot, role);
    this.#tell(port);
    if (this.#isDue(slot, role)) void this.#take(taker, slot);
  }

  /** News of a slot far ahead comes from a wrong clock and is ignored. */
  onMessage(member: PeerId, { slot, isDone }: BackupNews): void {
    if (slot > this.#slotOf(this.#timers.wallMs()) + 1) return;
    if (isDone) {
      this.#underWay.delete(member);
      if (slot <= this.#doneSlot) return;
      this.#doneSlot = slot;
      this.#isOwn = false;
    } else this.#underWay.set(member, { slot, atMs: this.#timers.nowMs() });
  }

  stop(): void {
    this.#isStopped = true;
    this.#taker?.stop();
  }

  /**
   * A slot far ahead has its backup because the clock was wrong then. Without this there would be
   * no further one until that date.
   */
  #forgetWrongClock(slot: number): void {
    if (this.#doneSlot <= slot + 1) return;
    this.#doneSlot = -1;
    this.#isOwn = false;
  }

  /** Begins to wait anew for each slot, role and leader, which all members see at the same time. */
  #wait(slot: number, { role, leader }: RoleView): void {
    const { slot: before, role: formerRole, leader: formerLeader } = this.#waiting;
    if (before === slot && role === formerRole && leader === formerLeader) return;
    this.#waiting = { slot, role, leader, sinceMs: this.#timers.nowMs() };
    // The others are told at once, because one of them may have just come up.
    this.#toldMs = Number.NEGATIVE_INFINITY;
  }

  #isDue(slot: number, { role, leader }: RoleView): boolean {
    const nowMs = this.#timers.nowMs();
    if (role === 'looking' || this.#doneSlot >= slot || this.#figures.isUnderWay) return false;
    for (const { slot: theirs, atMs } of this.#underWay.values()) {
      if (theirs < slot) continue;
      if (nowMs - atMs < UNDER_WAY_MS) return false;
      this.#waiting.sinceMs = Math.max(this.#waiting.sinceMs, atMs);
    }
    const dueMs = this.#waiting.sinceMs + SETTLE_MS + this.#rankOf(leader) * STAGGER_MS;
    return nowMs >= Math.max(dueMs, this.#notBeforeMs);
  }

  /** The members that are due before this one; the leader is due last. */
  #rankOf(leader: PeerId): number {
    const { id, members } = this.#plan;
    const others = members.filter((member) => member !== leader).sort((a, b) => a - b);
    return id === leader ? others.length : others.indexOf(id);
  }

  async #take(taker: BackupTaker, slot: number): Promise<void> {
    const [timers, logger] = [this.#timers, this.#logger];
    const figures = this.#figures;
    const begunMs = timers.nowMs();
    figures.isUnderWay = true;
    this.#toldMs = Number.NEGATIVE_INFINITY;
    const wasPruned = await this.#prune(taker, { isReported: true });
    try {
      const saved = await taker.save(() => this.#member.openBackup(), this.#member.treeBytes);
      this.#onDone(slot);
      figures.saved += 1;
      figures.isFailing = false;
      figures.lastSavedWallMs = timers.wallMs();
      figures.lastBytes = saved.bytes;
      figures.lastDurationMs = timers.nowMs() - begunMs;
      const zxid = formatZxid(saved.zxid);
      logger.info({ ...saved, zxid, ms: Math.round(figures.lastDurationMs) }, 'backup.saved');
    } catch (error) {
      if (this.#isStopped) return;
      figures.failed += 1;
      figures.isFailing = true;
      this.#notBeforeMs = timers.nowMs() + RETRY_MS;
      const reason = errorMessage(error);
      logger.error(
        { reason },
        'backup.failed: another member tries if there is one, and this one again in ten minutes',
      );
      return;
    } finally {
      figures.isUnderWay = false;
      this.#toldMs = Number.NEGATIVE_INFINITY;
    }
    await this.#prune(taker, { isReported: wasPruned });
  }

  /** Resolves with whether nothing is left that should be gone; never rejects. */
  async #prune(taker: BackupTaker, { isReported }: { isReported: boolean }): Promise<boolean> {
    const figures = this.#figures;
    const { facts, passedOver } = await taker.prune().then(
      (pruned) => ({ facts: leftOf(pruned), passedOver: pruned.passedOver }),
      (error) => ({ facts: { reason: errorMessage(error) }, passedOver: [] }),
    );
    if (this.#isStopped) return true;
    this.#reportPassedOver(passedOver);
    figures.isPruneFailing = facts !== null;
    if (facts === null) return true;
    if (!isReported) return false;
    figures.pruneFailed += 1;
    this.#logger.error(
      facts,
      'backup.prune_failed: backups go on and need more and more room until what stands in the ' +
        'way is removed',
    );
    return false;
  }

  /** Reports the same entry once. */
  #reportPassedOver(paths: readonly string[]): void {
    const [path = null] = paths;
    const isKnown = path === this.#passedOver;
    this.#passedOver = path;
    if (path === null || isKnown) return;
    this.#logger.warn(
      { path, entries: paths.length },
      'backup.passed_over: a link or a directory has the name of a backup and counts as none',
    );
  }

  #onDone(slot: number): void {
    if (slot < this.#doneSlot) return;
    this.#doneSlot = slot;
    this.#isOwn = true;
  }

  /** Tells all members again and again, so that a member that was away hears of it, too. */
  #tell(port: PeerSender): void {
    const { id, members } = this.#plan;
    const nowMs = this.#timers.nowMs();
    const { isUnderWay } = this.#figures;
    if (nowMs - this.#toldMs < TELL_MS || !(isUnderWay || this.#isOwn)) return;
    this.#toldMs = nowMs;
    // A backup that takes longer than its slot keeps the others from beginning the next one.
    const slot = isUnderWay ? this.#slotOf(this.#timers.wallMs()) : this.#doneSlot;
    const news = { kind: 'backupNews', slot, isDone: !isUnderWay } as const;
    for (const member of members) {
      if (member !== id) port.sendTo(member, news);
    }
  }

  async #readNewest(taker: BackupTaker): Promise<void> {
    const newestMs = await taker.newestMs().catch(() => null);
    if (newestMs !== null) {
      this.#figures.lastSavedWallMs = newestMs;
      this.#onDone(Math.min(this.#slotOf(newestMs), this.#slotOf(this.#timers.wallMs())));
    }
    this.#isReady = true;
  }

  #slotOf(wallMs: number): number {
    return Math.floor(wallMs / this.#plan.everyMs);
  }
}

/** Null where nothing is left; one of the files is named. */
function leftOf({ left }: PrunedBackups): object | null {
  const [first] = left;
  return first === undefined ? null : { ...first, files: left.length };
}
