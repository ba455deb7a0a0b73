/**
 * Whole members whose disk hangs while writes go on: what waits for it in memory is bounded, and
 * nothing of it is lost.
 */
import { describe, expect, it } from 'vitest';
import {
  connected,
  everyoneServes,
  expectEqual,
  follower,
  names,
  notes,
  serving,
} from './scenario.js';

const BOUND_BYTES = 50_000;
/** Its bytes in a proposal are a little more. */
const WRITE_BYTES = 1_000;
const WAVE = 10;

type Ensemble = Awaited<ReturnType<typeof serving>>;

/** Writes wave after wave at `id`; how many were answered when a wave is not, within a second. */
async function writesUntilStall(ensemble: Ensemble, id: number, waves: number) {
  const client = await connected(ensemble, id);
  const name = `of-${client.connected?.sessionId}`;
  const all: number[] = [];
  const answered = () => all.filter((xid) => client.errorOf(xid) === 0).length;
  for (let wave = 0; wave < waves && answered() === all.length; wave++) {
    const paths = names(`${name}-${wave}`, WAVE);
    all.push(...paths.map((path) => client.create(path, 'x'.repeat(WRITE_BYTES))));
    await ensemble.timers.advance(1_000);
  }
  return { answered, all };
}

describe('a disk that hangs', () => {
  it('keeps a leader from proposing more once enough waits for it, and then all is written', async () => {
    const ensemble = await serving({ tuning: { unwrittenBytes: BOUND_BYTES } });
    const { leader } = ensemble;
    const other = follower(ensemble);
    ensemble.hang(leader);
    const { answered, all } = await writesUntilStall(ensemble, other, 8);
    const bytes = answered() * WRITE_BYTES;
    expect(bytes).toBeGreaterThan(BOUND_BYTES - WAVE * WRITE_BYTES);
    expect(bytes).toBeLessThan(BOUND_BYTES + 2 * WAVE * WRITE_BYTES);
    ensemble.unhang(leader);
    await ensemble.until(() => answered() === all.length, 'were the others answered');
    expect(notes(ensemble, 'role.ended')).toBe(0);
    await expectEqual(ensemble);
  });

  it('keeps a leader from preparing more than may be in flight, and then all is written', async () => {
    const most = 20;
    const ensemble = await serving({ tuning: { inFlight: most } });
    const { leader } = ensemble;
    const client = await connected(ensemble, follower(ensemble));
    const reader = await connected(ensemble, follower(ensemble));
    const proposed = () =>
      ensemble.member(leader).status.extraMetrics.find(({ name }) => name === 'proposal_count')
        ?.value ?? 0;
    await ensemble.timers.advance(1_000);
    const before = proposed();
    for (const id of [1, 2, 3]) ensemble.hang(id);
    const xids = names('waits', 10 * most).map((path) => client.create(path));
    await ensemble.timers.advance(2_000);
    expect(proposed() - before).toBe(most);
    // Who only reads notices nothing.
    const read = reader.exists('/');
    await ensemble.until(() => reader.errorOf(read) === 0, 'was the read answered');
    for (const id of [1, 2, 3]) ensemble.unhang(id);
    await ensemble.until(() => xids.every((xid) => client.errorOf(xid) === 0), 'were all answered');
    expect(client.replies.map(({ xid }) => xid)).toEqual(xids);
    expect(notes(ensemble, 'role.ended')).toBe(0);
    await expectEqual(ensemble);
  });

  it('makes a follower give its leader up once too much waits for it, and not before', async () => {
    const ensemble = await serving({ tuning: { behindBytes: BOUND_BYTES } });
    const slow = follower(ensemble);
    const isGivenUp = () =>
      ensemble.lines.some((line) => line.includes('disk here cannot keep up'));
    ensemble.hang(slow);
    const within = await writesUntilStall(ensemble, ensemble.leader, 4);
    expect([within.answered(), isGivenUp()]).toEqual([4 * WAVE, false]);
    const past = await writesUntilStall(ensemble, ensemble.leader, 3);
    expect([past.answered(), isGivenUp()]).toEqual([3 * WAVE, true]);
    ensemble.unhang(slow);
    await everyoneServes(ensemble);
    await expectEqual(ensemble);
  });
});
