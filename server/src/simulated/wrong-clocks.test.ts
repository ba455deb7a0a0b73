/**
 * Goal: a wrong clock moves no mtime by more than clocks may differ, keeps no TTL znode and takes
 * none, and is told to the operator; and whatever it did is over once it is right again.
 * Method: whole members whose wall clocks are wrong by as much as a test says, in simulated time.
 */
import {
  CreateTtlRequest,
  ErrorCode,
  JuteReader,
  OpCode,
  PathWatchRequest,
  StatResponse,
} from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import type { MemoryClient } from './memory-client.js';
import type { MemoryEnsemble } from './memory-ensemble.js';
import { connected, everyoneServes, follower, notes, serving, write } from './scenario.js';

const TEN_YEARS = 10 * 365 * 86_400_000;
const CHECK_MS = 500;
const TTL_MS = 3_000;
const OPEN_ACL = [{ perms: 31, scheme: 'world', id: 'anyone' }];
const EVERY_SIZE = [1, 3] as const;

function withReaper(size: number): Promise<MemoryEnsemble> {
  return serving({ size, tuning: { containerCheckMs: CHECK_MS } });
}

async function answered(ensemble: MemoryEnsemble, client: MemoryClient, xid: number) {
  await ensemble.until(() => client.errorOf(xid) !== undefined, `was ${xid} answered`);
  const reply = client.replies.find((one) => one.xid === xid);
  if (reply === undefined) throw new Error(`${xid} was answered`);
  return reply;
}

async function createTtl(ensemble: MemoryEnsemble, client: MemoryClient, path: string) {
  const body = { path, data: null, acl: OPEN_ACL, flags: 5, ttlMs: TTL_MS };
  const xid = client.send(OpCode.createTtl, CreateTtlRequest, body);
  expect((await answered(ensemble, client, xid)).error).toBe(ErrorCode.ok);
}

async function isThere(ensemble: MemoryEnsemble, client: MemoryClient, path: string) {
  return (await answered(ensemble, client, client.exists(path))).error === ErrorCode.ok;
}

async function mtimeOf(ensemble: MemoryEnsemble, client: MemoryClient, path: string) {
  const xid = client.send(OpCode.exists, PathWatchRequest, { path, watch: false });
  const { body } = await answered(ensemble, client, xid);
  return Number(StatResponse.read(new JuteReader(body)).stat.mtime);
}

/** By how much its mtime differs from the true time now. */
async function errorOfMtime(ensemble: MemoryEnsemble, client: MemoryClient, path: string) {
  return (await mtimeOf(ensemble, client, path)) - ensemble.timers.wallMs();
}

describe('a clock that is ten years ahead', () => {
  it('of the leader dates no write: the clocks of most do, it is logged, and nothing remains', async () => {
    const ensemble = await withReaper(3);
    const { leader } = ensemble;
    const client = await connected(ensemble, leader);
    ensemble.clockErrors.set(leader, TEN_YEARS);
    await write(ensemble, client, ['/ahead']);
    expect(Math.abs(await errorOfMtime(ensemble, client, '/ahead'))).toBeLessThan(1_000);
    await ensemble.until(() => notes(ensemble, 'clock.contradicted') > 0, 'was it told');
    const told = ensemble.lines.find((line) => line.includes('clock.contradicted')) ?? '';
    const { level, member, aheadMs, own, majority } = JSON.parse(told);
    expect([level, member, Math.round(aheadMs / 1000)]).toEqual([50, leader, TEN_YEARS / 1000]);
    expect(Date.parse(own) - Date.parse(majority)).toBe(aheadMs);
    ensemble.clockErrors.clear();
    await write(ensemble, client, ['/right']);
    expect(Math.abs(await errorOfMtime(ensemble, client, '/right'))).toBeLessThan(1_000);
    await ensemble.timers.advance(20_000);
    expect(notes(ensemble, 'clock.agrees')).toBe(1);
  });

  it('of a follower, or one that is ten years behind, dates no write either', async () => {
    const ensemble = await withReaper(3);
    const client = await connected(ensemble, ensemble.leader);
    ensemble.clockErrors.set(follower(ensemble), TEN_YEARS);
    await ensemble.timers.advance(1_000);
    await write(ensemble, client, ['/one']);
    ensemble.clockErrors.clear();
    ensemble.clockErrors.set(ensemble.leader, -TEN_YEARS);
    await write(ensemble, client, ['/two']);
    for (const path of ['/one', '/two']) {
      expect(Math.abs(await errorOfMtime(ensemble, client, path))).toBeLessThan(2_000);
    }
  });
});

describe('a TTL znode', () => {
  for (const size of EVERY_SIZE) {
    it(`of ${size} member(s) goes in its time, though the clock is ahead when it is made`, async () => {
      const ensemble = await withReaper(size);
      const leader = ensemble.leader || 1;
      const client = await connected(ensemble, leader);
      ensemble.clockErrors.set(leader, TEN_YEARS);
      await createTtl(ensemble, client, '/t');
      ensemble.clockErrors.clear();
      await ensemble.timers.advance(TTL_MS - 500);
      expect(await isThere(ensemble, client, '/t')).toBe(true);
      await ensemble.timers.advance(500 + 2 * CHECK_MS);
      expect(await isThere(ensemble, client, '/t')).toBe(false);
    });

    it(`of ${size} member(s) is not taken by a clock that jumps ahead`, async () => {
      const ensemble = await withReaper(size);
      const leader = ensemble.leader || 1;
      const client = await connected(ensemble, leader);
      await createTtl(ensemble, client, '/t');
      ensemble.clockErrors.set(leader, TEN_YEARS);
      await ensemble.timers.advance(TTL_MS - 500);
      expect(await isThere(ensemble, client, '/t')).toBe(true);
      await ensemble.timers.advance(500 + 2 * CHECK_MS);
      expect(await isThere(ensemble, client, '/t')).toBe(false);
    });
  }

  it('has as much time left under the next leader, whatever that one thinks of the date', async () => {
    const ensemble = await withReaper(3);
    const before = ensemble.leader;
    const ids = [1, 2, 3].filter((id) => id !== before);
    const client = await connected(ensemble, ids[0] ?? 0);
    await createTtl(ensemble, client, '/t');
    await ensemble.timers.advance(1_000);
    for (const id of ids) ensemble.clockErrors.set(id, id === ids[0] ? TEN_YEARS : 0);
    ensemble.kill(before);
    await ensemble.until(() => ids.includes(ensemble.leader), 'did another one lead');
    const next = await connected(ensemble, ensemble.leader);
    expect(await isThere(ensemble, next, '/t')).toBe(true);
    await ensemble.timers.advance(TTL_MS);
    expect(await isThere(ensemble, next, '/t')).toBe(false);
  });

  it('from before all members were started anew goes by its date, which most agree on', async () => {
    const ensemble = await withReaper(3);
    const client = await connected(ensemble, ensemble.leader);
    await createTtl(ensemble, client, '/t');
    for (const id of [1, 2, 3]) await ensemble.stop(id);
    await ensemble.timers.advance(TTL_MS + 60_000);
    await ensemble.start();
    await everyoneServes(ensemble);
    const next = await connected(ensemble, ensemble.leader);
    await ensemble.timers.advance(2 * CHECK_MS);
    expect(await isThere(ensemble, next, '/t')).toBe(false);
  });
});

describe('time', () => {
  it('comes back to the clocks of most when those were wrong for a while, and that is told', async () => {
    const ensemble = await withReaper(3);
    const client = await connected(ensemble, ensemble.leader);
    for (const id of [1, 2, 3]) ensemble.clockErrors.set(id, TEN_YEARS);
    await ensemble.timers.advance(1_000);
    await write(ensemble, client, ['/ahead']);
    expect(await errorOfMtime(ensemble, client, '/ahead')).toBeGreaterThan(TEN_YEARS - 2_000);
    ensemble.clockErrors.clear();
    await ensemble.timers.advance(1_000);
    await write(ensemble, client, ['/back']);
    expect(Math.abs(await errorOfMtime(ensemble, client, '/back'))).toBeLessThan(2_000);
    await ensemble.timers.advance(1_000);
    expect(notes(ensemble, 'clock.transactions_stepped')).toBe(2);
  });

  it('has not stepped when an ensemble was down for longer than clocks may differ', async () => {
    const ensemble = await withReaper(3);
    await write(ensemble, await connected(ensemble, ensemble.leader), ['/before']);
    for (const id of [1, 2, 3]) await ensemble.stop(id);
    await ensemble.timers.advance(60_000);
    await ensemble.start();
    await everyoneServes(ensemble);
    const client = await connected(ensemble, ensemble.leader);
    await write(ensemble, client, ['/after']);
    await ensemble.timers.advance(1_000);
    expect(Math.abs(await errorOfMtime(ensemble, client, '/after'))).toBeLessThan(2_000);
    expect(notes(ensemble, 'clock.transactions_stepped')).toBe(0);
  });
});

describe('a clock that is far ahead while nothing is written', () => {
  it('leaves no trace: time goes on from the last transaction (seed 70201435)', async () => {
    const ensemble = await withReaper(1);
    const leader = ensemble.leader || 1;
    const client = await connected(ensemble, leader);
    // The transaction that raises the level of a new ensemble is over.
    await ensemble.timers.advance(10_000);
    ensemble.clockErrors.set(leader, 800);
    await write(ensemble, client, ['/early']);
    ensemble.clockErrors.set(leader, TEN_YEARS);
    await ensemble.timers.advance(100);
    ensemble.clockErrors.set(leader, 0);
    await write(ensemble, client, ['/late']);
    const early = await mtimeOf(ensemble, client, '/early');
    expect(await mtimeOf(ensemble, client, '/late')).toBeGreaterThanOrEqual(early);
    expect(notes(ensemble, 'clock.transactions_stepped')).toBe(0);
  });
});
