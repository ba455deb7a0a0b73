/** What is kept of digests: by a leader of what it was told, by a member until its heartbeat. */
import { type Digests, type Diverged, makeZxid } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { keptLog } from '../simulated/net/fixtures.js';
import type { ReplicatedState } from '../state/replicated-state.js';
import { Counters } from './counters.js';
import { DigestWatch } from './digest-watch.js';
import type { DriverParts } from './parts.js';

const KEPT_MAX = 64;
const TOLD_MAX = 8;
const SAMPLE_EVERY = 128;

function bench(role: 'leading' | 'following') {
  const counters = new Counters(0);
  const told: (Digests | Diverged)[] = [];
  const options = { id: 1, members: 3 };
  const peerPort = { sendTo: (_peer: number, message: Digests | Diverged) => told.push(message) };
  const parts = { counters, options, logger: keptLog().logger, peerPort };
  const watch = new DigestWatch(parts as unknown as DriverParts);
  const shown = { role, leader: role === 'leading' ? 1 : 2 };
  const stateAt = (zxid: number) =>
    ({ lastZxid: zxid, digest: () => `of ${zxid}` }) as unknown as ReplicatedState;
  const hear = (from: number, zxid: number, digest: string) =>
    watch.onMessage(shown, from, { kind: 'digests', digests: [{ zxid, digest }] });
  const apply = (zxid: number) => watch.onApplied(zxid, stateAt(zxid));
  return { watch, counters, told, shown, stateAt, hear, apply };
}

describe('a leader', () => {
  it('compares what it is told of the last 64 zxids, and of none before', () => {
    for (const [others, mismatches] of [
      [KEPT_MAX - 1, 1],
      [KEPT_MAX, 0],
    ] as const) {
      const { counters, hear } = bench('leading');
      hear(2, 1, 'one');
      for (let zxid = 2; zxid < 2 + others; zxid++) hear(2, zxid, 'same');
      hear(3, 1, 'other');
      expect(counters.digestMismatches).toBe(mismatches);
    }
  });

  it('looks at no more of a message than a member says in one', () => {
    const { watch, counters, hear, shown } = bench('leading');
    for (const zxid of [1, 2 + TOLD_MAX]) hear(2, zxid, 'one');
    const zxids = Array.from({ length: 2 + TOLD_MAX }, (_, index) => 1 + index);
    const digests = zxids.map((zxid) => ({ zxid, digest: 'other' }));
    watch.onMessage(shown, 3, { kind: 'digests', digests });
    // The first one differs; the last one of them, which differs too, is one too many.
    expect(counters.digestMismatches).toBe(1);
  });
});

describe('where a learner is synchronized', () => {
  const COMMITTED = makeZxid(1, 7);
  const upToDate = (committed: number) => ({ kind: 'upToDate', committed }) as const;

  it('it tells its digest, although no sample is due', () => {
    const { watch, told, shown, stateAt, apply } = bench('following');
    watch.onServing(stateAt(COMMITTED));
    apply(COMMITTED + 1);
    watch.onHeartbeat(shown, stateAt(COMMITTED + 1));
    const digests = [{ zxid: COMMITTED, digest: `of ${COMMITTED}` }];
    expect(told).toEqual([{ kind: 'digests', digests }]);
  });

  it.each([0, 1])('the leader compares its own, applied %d transactions later', (later) => {
    const { watch, counters, shown, stateAt, hear, apply } = bench('leading');
    watch.onSend(upToDate(COMMITTED), stateAt(COMMITTED - later));
    for (let zxid = COMMITTED - later + 1; zxid <= COMMITTED + 1; zxid++) apply(zxid);
    watch.onHeartbeat(shown, stateAt(COMMITTED + 1));
    hear(2, COMMITTED + 1, 'other');
    hear(2, COMMITTED, `of ${COMMITTED}`);
    expect(counters.digestMismatches).toBe(0);
    hear(3, COMMITTED, 'other');
    expect(counters.digestMismatches).toBe(1);
  });

  it('a leader that has not applied more than 64 of them remembers the newest', () => {
    const { watch, counters, shown, stateAt, apply, hear } = bench('leading');
    const zxids = Array.from({ length: KEPT_MAX + 1 }, (_, index) => makeZxid(1, 1 + index));
    for (const zxid of zxids) watch.onSend(upToDate(zxid), stateAt(0));
    for (const zxid of zxids.slice(0, 2)) apply(zxid);
    watch.onHeartbeat(shown, stateAt(makeZxid(1, 3)));
    for (const zxid of zxids.slice(0, 2)) hear(2, zxid, 'other');
    expect(counters.digestMismatches).toBe(1);
  });

  it('what was to be told is forgotten with the role', () => {
    const { watch, told, shown, stateAt } = bench('following');
    watch.onServing(stateAt(COMMITTED));
    watch.onLooking();
    watch.onHeartbeat(shown, stateAt(COMMITTED));
    expect(told).toEqual([]);
  });
});

describe('a member that applies much between two heartbeats', () => {
  it('tells its leader the last eight samples', () => {
    const { watch, told, shown, stateAt, apply } = bench('following');
    const last = 20 * SAMPLE_EVERY;
    for (let counter = 1; counter <= last + 5; counter++) apply(makeZxid(1, counter));
    watch.onHeartbeat(shown, stateAt(makeZxid(1, last + 5)));
    const [message] = told;
    if (message?.kind !== 'digests') throw new Error('it told no digests');
    const counters = message.digests.map(({ zxid }) => zxid - makeZxid(1, 0));
    expect(counters).toEqual(
      Array.from({ length: TOLD_MAX }, (_, index) => (13 + index) * SAMPLE_EVERY),
    );
  });
});
