/** Frames of the hottest paths and clients for terminals of several sizes. */
import { expect, it } from 'vitest';
import type { Screen } from './frame.js';
import type { Hot } from './hot.js';
import { clientFrame, type HotLook, pathFrame } from './hot-frame.js';

const HOT: Hot = {
  members: [
    { id: 1, answers: true, spanMs: 8_000, readsPerSecond: 1_200_000, writesPerSecond: 4 },
    { id: 2, answers: true, spanMs: 8_000, readsPerSecond: 300, writesPerSecond: 0.5 },
    { id: 3, answers: false },
  ],
  paths: [
    { path: '/config/app', readsPerSecond: 1_199_000, writesPerSecond: null },
    { path: `/queue/${'x'.repeat(200)}`, readsPerSecond: 0.25, writesPerSecond: 4 },
    { path: '/evil\x1b[2J', readsPerSecond: null, writesPerSecond: 0.5 },
  ],
  clients: [
    { session: '0x1a0000002b', member: 1, address: '10.0.0.7:5123', requestsPerSecond: 9_000 },
    { session: '0x1a0000002c', member: 2, address: null, requestsPerSecond: 3 },
    { session: '0x1a0000002d', member: 1, address: '', requestsPerSecond: 0 },
  ],
};
const SCREEN: Screen = {
  width: 80,
  height: 23,
  intervalS: 2,
  time: '12:00:00',
  order: { column: 0, isReversed: false },
};

function textOf(frame: typeof pathFrame, look: HotLook, screen: Partial<Screen> = {}): string {
  return frame(look, { ...SCREEN, ...screen })
    .map(({ text }) => text.trimEnd())
    .join('\n');
}

it('paths fit in 80 characters, with an escape for what would move the cursor', () => {
  expect(textOf(pathFrame, HOT)).toBe(
    [
      '1.2M reads/s, 4.5 writes/s at 2 of 3 members                 every 2 s  12:00:00',
      'READ/S↓ WRITE/S PATH',
      '   1.2M       - /config/app',
      `    0.3     4.0 /queue/${'x'.repeat(56)}…`,
      '      -     0.5 /evil\\u001b[2J',
      '',
      'q quit   m members   p paths   c clients   left/right sort (READ/S)   r reverse',
    ].join('\n'),
  );
  const byWrites = textOf(pathFrame, HOT, { order: { column: 1, isReversed: false } });
  expect(byWrites.indexOf('/queue')).toBeLessThan(byWrites.indexOf('/evil'));
});

it('clients are told with their members and addresses, also those that have left', () => {
  expect(textOf(clientFrame, HOT).split('\n').slice(1, 5)).toEqual([
    'REQ/S↓ MEMBER SESSION      CLIENT',
    '  9000      1 0x1a0000002b 10.0.0.7:5123',
    '   3.0      2 0x1a0000002c no longer connected',
    '     0      1 0x1a0000002d the member itself',
  ]);
});

it('no size of the terminal is exceeded, and what has no room is counted', () => {
  for (const width of [10, 40, 200]) {
    for (const height of [5, 6, 24]) {
      for (const frame of [pathFrame, clientFrame]) {
        const lines = frame(HOT, { ...SCREEN, width, height });
        expect(lines.length).toBeLessThanOrEqual(height);
        for (const { text } of lines) expect(text.length).toBeLessThanOrEqual(width);
      }
    }
  }
  expect(textOf(pathFrame, HOT, { height: 5 })).toContain('\nNo room for 2 more.\n');
});

it('nothing to show is explained', () => {
  const problem = 'http://127.0.0.1:8080 does not answer: \x1b[2J';
  expect(textOf(pathFrame, { problem })).toContain(
    '\nhttp://127.0.0.1:8080 does not answer: \\u001b',
  );
  const nothing = textOf(clientFrame, { ...HOT, paths: [], clients: [] });
  expect(nothing).toContain('\nNo requests of clients were seen lately.\n');
});
