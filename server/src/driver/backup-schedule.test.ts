/**
 * Who takes a scheduled backup: three members that hear of each other, one of which leads, on one
 * clock; what each of them does is decided by it alone.
 */
import { assert, type BackupNews, type PeerId, type PeerMessage } from '@rookery/protocol';
import pino from 'pino';
import { expect, it } from 'vitest';
import { ManualTimers } from '../simulated/net/manual-timers.js';
import {
  BackupSchedule,
  RETRY_MS,
  type SavedBackup,
  SETTLE_MS,
  STAGGER_MS,
} from './backup-schedule.js';

const HOUR_MS = 3_600_000;
const STEP_MS = 1000;

class Ensemble {
  readonly timers = new ManualTimers();
  readonly lines: string[] = [];
  leader: PeerId = 1;
  /** How far the clock of all members is wrong. */
  clockErrorMs = 0;
  /** Members whose links are up. */
  readonly up = new Set<PeerId>([1, 2, 3]);
  /** Members whose backups fail, at once. */
  readonly failing = new Set<PeerId>();
  /** Members with an old backup that cannot be removed. */
  readonly stuck = new Set<PeerId>();
  /** Those whose directory has a link with the name of a backup. */
  readonly linked = new Set<PeerId>();
  readonly newest = new Map<PeerId, number>();
  /** Who has begun a backup, in this order, and how each is ended. */
  readonly begun: PeerId[] = [];
  readonly #ends = new Map<PeerId, (saved: SavedBackup) => void>();
  readonly schedules: ReadonlyMap<PeerId, BackupSchedule>;

  constructor(newest: Iterable<readonly [PeerId, number]> = []) {
    this.newest = new Map(newest);
    this.schedules = new Map([1, 2, 3].map((id) => [id, this.#scheduleOf(id)] as const));
  }

  schedule(id: PeerId): BackupSchedule {
    const schedule = this.schedules.get(id);
    assert(schedule !== undefined, `member ${id} is there`);
    return schedule;
  }

  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= STEP_MS) {
      await this.timers.advance(Math.min(STEP_MS, left));
      for (const [id, schedule] of this.schedules) {
        if (!this.up.has(id)) continue;
        const role = id === this.leader ? 'leading' : 'following';
        schedule.onHeartbeat(
          { role, leader: this.leader },
          { sendTo: this.#tellOf(id), reaches: () => true },
        );
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async end(id: PeerId): Promise<void> {
    this.#ends.get(id)?.({ path: '/b', zxid: 1, znodes: 1, bytes: 10 });
    await new Promise((resolve) => setImmediate(resolve));
  }

  #tellOf(from: PeerId) {
    return (to: PeerId, message: PeerMessage): void => {
      assert(message.kind === 'backupNews', 'nothing else is told');
      if (this.up.has(to)) this.schedule(to).onMessage(from, message);
    };
  }

  #scheduleOf(id: PeerId): BackupSchedule {
    const write = (line: string) => this.lines.push(`${id} ${JSON.parse(line).msg.split(':')[0]}`);
    const plan = { id, members: [1, 2, 3], everyMs: HOUR_MS };
    const openBackup = () => Promise.reject(new Error('nothing is opened'));
    return new BackupSchedule(
      plan,
      { treeBytes: 1, openBackup },
      {
        newestMs: () => Promise.resolve(this.newest.get(id) ?? null),
        save: () => {
          this.begun.push(id);
          if (this.failing.has(id)) return Promise.reject(new Error('no room'));
          return new Promise((resolve) => this.#ends.set(id, resolve));
        },
        prune: () => {
          const left = this.stuck.has(id) ? [{ path: '/old', reason: 'EPERM' }] : [];
          const passedOver = this.linked.has(id) ? ['/snapshot.1.gz'] : [];
          return Promise.resolve({ removed: 0, left, passedOver });
        },
        stop: () => undefined,
      },
      {
        nowMs: () => this.timers.nowMs(),
        wallMs: () => this.timers.wallMs() + this.clockErrorMs,
        after: (delayMs, action) => this.timers.after(delayMs, action),
        defer: (action) => this.timers.defer(action),
      },
      pino({}, { write }),
    );
  }
}

it('the first follower takes it, the others hear of it, and the leader takes none', async () => {
  const ensemble = new Ensemble();
  await ensemble.pass(10 * STAGGER_MS);
  expect(ensemble.begun).toEqual([2]);
  await ensemble.end(2);
  await ensemble.pass(20 * STAGGER_MS);
  expect(ensemble.begun).toEqual([2]);
  expect(ensemble.lines).toEqual(['2 backup.saved']);
  expect(ensemble.schedule(2).figures).toMatchObject({ saved: 1, failed: 0, lastBytes: 10 });
  // A new leader does not begin another one in the same slot; the next slot has its own.
  ensemble.leader = 2;
  await ensemble.pass(10 * STAGGER_MS);
  expect(ensemble.begun).toEqual([2]);
  await ensemble.pass(HOUR_MS);
  expect(ensemble.begun).toEqual([2, 1]);
});

it('a follower that is down, or fails, is followed by the next one, and the leader is the last', async () => {
  const ensemble = new Ensemble();
  ensemble.up.delete(2);
  ensemble.failing.add(3);
  await ensemble.pass(SETTLE_MS + STAGGER_MS - STEP_MS);
  expect(ensemble.begun).toEqual([]);
  await ensemble.pass(2 * STEP_MS);
  expect(ensemble.begun).toEqual([3]);
  expect(ensemble.lines).toEqual(['3 backup.failed']);
  expect(ensemble.schedule(3).figures).toMatchObject({ failed: 1, isFailing: true });
  await ensemble.pass(STAGGER_MS);
  expect(ensemble.begun).toEqual([3, 1]);
  await ensemble.end(1);
  await ensemble.pass(2 * RETRY_MS);
  expect(ensemble.begun).toEqual([3, 1]);
});

it('a member that ended while it took a backup is followed by the next one', async () => {
  const ensemble = new Ensemble();
  await ensemble.pass(SETTLE_MS + STEP_MS);
  expect(ensemble.begun).toEqual([2]);
  await ensemble.pass(2 * STAGGER_MS);
  expect(ensemble.begun).toEqual([2]);
  ensemble.up.delete(2);
  await ensemble.pass(2 * STAGGER_MS);
  expect(ensemble.begun).toEqual([2, 3]);
  await ensemble.pass(2 * STAGGER_MS);
  expect(ensemble.begun).toEqual([2, 3]);
});

it('where all fail, each tries again', async () => {
  const ensemble = new Ensemble();
  for (const id of [1, 2, 3]) ensemble.failing.add(id);
  await ensemble.pass(SETTLE_MS + 3 * STAGGER_MS);
  expect(ensemble.begun).toEqual([2, 3, 1]);
  ensemble.failing.delete(2);
  await ensemble.pass(RETRY_MS);
  expect(ensemble.begun).toEqual([2, 3, 1, 2]);
  await ensemble.end(2);
  expect(ensemble.schedule(2).figures).toMatchObject({ saved: 1, failed: 1, isFailing: false });
});

it('a backup that is in the directory already counts after a restart, for all', async () => {
  const ensemble = new Ensemble([[3, new ManualTimers().wallMs()]]);
  await ensemble.pass(20 * STAGGER_MS);
  expect(ensemble.begun).toEqual([]);
  await ensemble.pass(HOUR_MS);
  expect(ensemble.begun).toEqual([2]);
});

it('the slot of a clock that is far ahead says nothing', async () => {
  const ensemble = new Ensemble();
  const news: BackupNews = { kind: 'backupNews', slot: 1_000_000, isDone: true };
  for (const schedule of ensemble.schedules.values()) schedule.onMessage(3, news);
  await ensemble.pass(SETTLE_MS + STEP_MS);
  expect(ensemble.begun).toEqual([2]);
});

it('a clock that was ten years ahead for a minute stops no backup once it is right again', async () => {
  const ensemble = new Ensemble();
  ensemble.clockErrorMs = 10 * 365 * 24 * HOUR_MS;
  await ensemble.pass(3 * STAGGER_MS);
  await ensemble.end(2);
  await ensemble.pass(STAGGER_MS);
  expect(ensemble.begun).toEqual([2]);
  ensemble.clockErrorMs = 0;
  await ensemble.pass(3 * STAGGER_MS);
  expect(ensemble.begun).toEqual([2, 2]);
  await ensemble.end(2);
  await ensemble.pass(HOUR_MS / 2);
  expect(ensemble.begun).toEqual([2, 2]);
  await ensemble.pass(HOUR_MS);
  expect(ensemble.begun).toEqual([2, 2, 2]);
});

it('backups go on where an old one cannot be removed, which is reported once for each', async () => {
  const ensemble = new Ensemble();
  ensemble.stuck.add(2);
  for (let count = 1; count <= 3; count++) {
    await ensemble.pass(2 * STAGGER_MS);
    await ensemble.end(2);
    await ensemble.pass(2 * RETRY_MS);
    expect(ensemble.begun).toEqual(Array(count).fill(2));
    expect(ensemble.schedule(2).figures).toMatchObject({
      saved: count,
      failed: 0,
      isFailing: false,
      pruneFailed: count,
      isPruneFailing: true,
    });
    expect(ensemble.lines.slice(-2)).toEqual(['2 backup.prune_failed', '2 backup.saved']);
    await ensemble.pass(HOUR_MS - 2 * STAGGER_MS - 2 * RETRY_MS);
  }
  ensemble.stuck.delete(2);
  await ensemble.pass(HOUR_MS);
  await ensemble.end(2);
  expect(ensemble.schedule(2).figures).toMatchObject({ isPruneFailing: false });
});

it('a link with the name of a backup is reported once', async () => {
  const ensemble = new Ensemble();
  ensemble.linked.add(2);
  await ensemble.pass(2 * STAGGER_MS);
  await ensemble.end(2);
  await ensemble.pass(2 * RETRY_MS);
  expect(ensemble.lines).toEqual(['2 backup.passed_over', '2 backup.saved']);
  expect(ensemble.schedule(2).figures).toMatchObject({ saved: 1, isPruneFailing: false });
});
