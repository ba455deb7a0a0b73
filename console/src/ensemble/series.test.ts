import { expect, it } from 'vitest';
import type { Figures, Member } from './member.js';
import { CHARTS, chartsOf, linesOf } from './series.js';

const FIGURES: Figures = {
  updates: 1.5,
  syncs: null,
  reads: null,
  requests: 10,
  commits: 2,
  lag: 0,
};

it('a line has the figures of its member, and gaps where it told none', () => {
  const points = [
    { atMs: 1000, figures: new Map([[1, FIGURES]]) },
    { atMs: 2000, figures: new Map([[1, { ...FIGURES, updates: 3 }]]) },
    { atMs: 3000, figures: new Map<number, Figures>() },
  ];
  const [line, other] = linesOf('updates', { points, members: [1, 2] }, 2000);
  expect(line).toEqual({
    member: 1,
    newest: null,
    points: [
      { x: 2000, y: 3 },
      { x: 3000, y: null },
    ],
  });
  expect(other?.points.map(({ y }) => y)).toEqual([null, null]);
});

it('servers that tell one average have one chart of latency', () => {
  const zookeeper: Member = { id: 1, host: 'zk', answers: true, latencyMs: { average: 2 } };
  const titles = chartsOf([zookeeper]).map(({ title }) => title);
  expect(titles).toEqual(['Latency', 'Requests', 'Lag']);
  expect(chartsOf([{ ...zookeeper, timings: {} }])).toBe(CHARTS);
});
