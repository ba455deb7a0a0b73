/** Frames for terminals of several sizes, with members that are down. */
import { expect, it } from 'vitest';
import { decimal, short, sorted } from './columns.js';
import { COLUMNS, frameOf, type Screen } from './frame.js';
import type { Row } from './rows.js';

const UP: Row = {
  address: '127.0.0.1:21811',
  role: 'follower',
  problem: null,
  zxid: 0x1_0000_002an,
  lag: 0,
  connections: 12,
  outstanding: 0,
  avgMs: 0.42,
  p99Ms: 3,
  maxMs: 135,
  requestsPerS: 1234.5,
  watches: 17,
  znodes: 23_000,
  treeBytes: 5_300_000,
};
const DOWN: Row = {
  address: '127.0.0.1:21813',
  role: null,
  zxid: null,
  lag: null,
  connections: null,
  outstanding: null,
  avgMs: null,
  p99Ms: null,
  maxMs: null,
  requestsPerS: null,
  watches: null,
  znodes: null,
  treeBytes: null,
  problem: 'connect ECONNREFUSED 127.0.0.1:21813, and a reason that is much longer than the line',
};
const ROWS = [UP, { ...UP, address: '127.0.0.1:21812', role: 'leader', connections: 7 }, DOWN];
const SCREEN: Screen = {
  width: 80,
  height: 23,
  intervalS: 2,
  time: '12:00:00',
  order: { column: 0, isReversed: false },
};

function textOf(rows: readonly Row[], screen: Partial<Screen> = {}): string {
  return frameOf(rows, { ...SCREEN, ...screen })
    .map(({ text }) => text.trimEnd())
    .join('\n');
}

it('all columns fit in 80 characters, and a member that is down says why', () => {
  expect(textOf(ROWS)).toBe(
    [
      '2 of 3 serve, 127.0.0.1:21812 leads                          every 2 s  12:00:00',
      'MEMBER↑         ROLE     ZXID LAG CONN OUT REQ/S AVG P99 MAX NODES WATCH  MEM',
      '127.0.0.1:21811 follower 1:2a   0   12   0  1235 0.4 3.0 135   23k    17 5.3M',
      '127.0.0.1:21812 leader   1:2a   0    7   0  1235 0.4 3.0 135   23k    17 5.3M',
      '127.0.0.1:21813 down     connect ECONNREFUSED 127.0.0.1:21813, and a reason tha…',
      '',
      'q quit   m members   p paths   c clients   left/right sort (MEMBER)   r reverse',
    ].join('\n'),
  );
});

it('no size of the terminal is exceeded, and what has no room is named', () => {
  for (const width of [10, 20, 40, 79, 200]) {
    for (const height of [5, 6, 24]) {
      const lines = frameOf(ROWS, { ...SCREEN, width, height });
      expect(lines.length).toBeLessThanOrEqual(height);
      for (const { text } of lines) expect(text.length).toBeLessThanOrEqual(width);
    }
  }
  expect(textOf(ROWS, { width: 70 })).toContain('\nNo room for WATCH, MEM.\n');
  expect(textOf(ROWS, { height: 5 })).toContain('\nNo room for 2 more members.\n');
});

it('nobody, or two members, may lead', () => {
  expect(textOf([DOWN])).toMatch(/^0 of 1 serve, no leader /);
  const leader = { ...UP, role: 'leader' };
  expect(textOf([leader, leader])).toMatch(/^2 of 2 serve, 2 say that they lead /);
});

it('control characters of a server do not reach the terminal', () => {
  expect(textOf([{ ...DOWN, problem: 'it answered \x1b[2J' }])).toContain('it answered \\u001b[2J');
});

it('figures are sorted with the greatest first, members without one stay last', () => {
  const column = COLUMNS.findIndex(({ head }) => head === 'CONN');
  const ports = (isReversed: boolean) => {
    const rows = [DOWN, ...ROWS.slice(0, 2)];
    return sorted(rows, COLUMNS, { column, isReversed }).map(({ address }) => {
      return address.slice(-1);
    });
  };
  expect(ports(false)).toEqual(['1', '2', '3']);
  expect(ports(true)).toEqual(['2', '1', '3']);
  const byName = sorted(ROWS, COLUMNS, { column: 0, isReversed: true });
  expect(byName[0]).toBe(DOWN);
});

it('numbers take few characters', () => {
  const values = [0, 9999, 10_000, 1_234_567, 99_950_000, 1e12, null];
  expect(values.map(short)).toEqual(['0', '9999', '10k', '1.2M', '100M', '1.0T', '-']);
  expect([0, 0.04, 9.94, 9.96, 12.4].map(decimal)).toEqual(['0', '0.0', '9.9', '10', '12']);
});
