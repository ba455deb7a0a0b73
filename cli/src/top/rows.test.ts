/** Rows are computed from two looks at members of Rookery and of ZooKeeper 3.8. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { type Asked, rowsOf } from './rows.js';
import { type Details, parseSample, type Sample } from './sample.js';

const VECTORS = new URL('../../../test/vectors/four-letter-words.json', import.meta.url);
const recorded: Readonly<Record<string, string>> = JSON.parse(readFileSync(VECTORS, 'utf8'));

const DETAILS: Details = {
  watches: 4,
  p99Ms: 9,
  measured: { count: 100, sumMs: 200 },
  treeBytes: 4096,
};
const SAMPLE: Sample = {
  role: 'leader',
  zxid: 0x1_0000_0064n,
  connections: 3,
  outstanding: 0,
  znodes: 5,
  received: 1000,
  avgMs: 1.5,
  maxMs: 20,
  details: DETAILS,
};

function asked(sample: Partial<Sample> | null, atMs = 0): Asked {
  const problem = sample === null ? 'connect ECONNREFUSED' : null;
  return { address: 'zk1:2181', atMs, sample: sample && { ...SAMPLE, ...sample }, problem };
}

function only(before: Asked | null, now: Asked) {
  return rowsOf(before === null ? null : [before], [now])[0];
}

it('the recorded answers of ZooKeeper are read', () => {
  const sample = parseSample(recorded['srvr'] ?? '', recorded['mntr'] ?? '');
  expect(sample).toEqual({
    role: 'standalone',
    zxid: 0x33n,
    connections: 2,
    outstanding: 0,
    znodes: 23,
    received: 94,
    avgMs: 1.8072,
    maxMs: 9,
    details: { watches: 0, p99Ms: 9, measured: { count: 83, sumMs: 150 }, treeBytes: null },
  });
});

it('a server that does not allow mntr has no details, and other answers are no sample', () => {
  const srvr = recorded['srvr'] ?? '';
  const refusal = 'mntr is not executed because it is not in the whitelist.\n';
  expect(parseSample(srvr, refusal)?.details).toBe(null);
  expect(parseSample(srvr, null)?.details).toBe(null);
  for (const answer of ['', 'imok', 'Mode: leader', 'Mode: leader\nZxid: 0xno', 'Zxid: 0x1']) {
    expect(parseSample(answer, null)).toBe(null);
  }
  expect(parseSample('Mode: \x1b[2J\nZxid: 0x1', null)).toBe(null);
  expect(parseSample('Mode: leader\nZxid: 0x1\nConnections: many', null)?.connections).toBe(0);
});

it('rates and averages are of the time between two looks', () => {
  const details = { ...DETAILS, measured: { count: 150, sumMs: 500 } };
  const later = asked({ received: 1500, details }, 2000);
  expect(only(asked({}), later)).toMatchObject({ requestsPerS: 250, avgMs: 6, p99Ms: 9 });
});

it('without a look before, or with counters that went back, nothing is made up', () => {
  expect(only(null, asked({}))).toMatchObject({ requestsPerS: null, avgMs: 1.5 });
  const again = asked({ received: 10 }, 2000);
  expect(only(asked({}), again)).toMatchObject({ requestsPerS: null, avgMs: 1.5 });
  expect(only(asked(null), asked({}, 2000))).toMatchObject({ requestsPerS: null, avgMs: 1.5 });
  // Nobody asked anything in between: there is no average.
  expect(only(asked({}), asked({}, 2000))).toMatchObject({ requestsPerS: 0, avgMs: null });
  expect(only(asked({}), asked({ received: 1100 }, 0))).toMatchObject({ requestsPerS: null });
});

it('the average since the start stands in where mntr is not answered', () => {
  const row = only(asked({ details: null }), asked({ details: null, received: 1002 }, 1000));
  expect(row).toMatchObject({ requestsPerS: 2, avgMs: 1.5, p99Ms: null, watches: null });
});

it('the lag is counted in transactions behind the leader, within its epoch', () => {
  const lags = (...samples: readonly (Partial<Sample> | null)[]) => {
    return rowsOf(
      null,
      samples.map((sample) => asked(sample)),
    ).map(({ lag }) => lag);
  };
  const follower = { role: 'follower' };
  expect(lags({}, { ...follower, zxid: 0x1_0000_0060n })).toEqual([0, 4]);
  expect(lags({}, { ...follower, zxid: 0x1_0000_0065n })).toEqual([0, 0]);
  expect(lags({ zxid: 0x2_0000_0000n }, follower)).toEqual([0, null]);
  expect(lags(follower, null)).toEqual([null, null]);
  expect(lags({}, { zxid: 0x2_0000_0005n }, { ...follower, zxid: 0x2_0000_0001n })).toEqual([
    ...[null, 0, 4],
  ]);
});

it('a member that does not serve keeps its row, with the reason', () => {
  const row = only(asked({}), asked(null, 2000));
  expect(row).toMatchObject({ role: null, problem: 'connect ECONNREFUSED', connections: null });
});
