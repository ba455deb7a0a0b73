/** The charts of the page: what each shows, and its lines, one for each member. Pure. */
import { countText, millisText } from '../live/format.js';
import type { Figure, Member } from './member.js';
import type { Point } from './member-history.js';

const COLOURS = 7;

/** The CSS variable with the colour of a member, in every chart and card. */
export function colourOf(member: number): string {
  return `--series-${((member - 1) % COLOURS) + 1}`;
}

export interface ChartSpec {
  readonly figure: Figure;
  readonly title: string;
  readonly help: string;
  readonly text: (value: number) => string;
}

const perSecond = (value: number): string =>
  `${value < 10 ? Math.round(10 * value) / 10 : countText(value)}/s`;

export const CHARTS: readonly ChartSpec[] = [
  {
    figure: 'updates',
    title: 'Write latency',
    text: millisText,
    help: 'From a request that changes something to its answer, on average in each second.',
  },
  {
    figure: 'syncs',
    title: 'Disk sync',
    text: millisText,
    help: 'Writing a group of transactions to the log until it is durable.',
  },
  {
    figure: 'reads',
    title: 'Read latency',
    text: millisText,
    help: 'From a request that changes nothing to its answer.',
  },
  {
    figure: 'requests',
    title: 'Requests',
    text: perSecond,
    help: 'Packets of clients, pings among them.',
  },
  {
    figure: 'commits',
    title: 'Transactions',
    text: perSecond,
    help: 'Transactions that each member has applied.',
  },
  {
    figure: 'lag',
    title: 'Lag',
    text: (value) => `${countText(value)} behind`,
    help: 'Transactions that a member has applied fewer than the leader at the same look.',
  },
];

/** The chart for servers that tell one average alone, over everything since they started. */
const UNTIMED: ChartSpec = {
  figure: 'updates',
  title: 'Latency',
  text: millisText,
  help: 'From a request to its answer, on average since the server started.',
};
const WITHOUT_TIMINGS: readonly ChartSpec[] = [
  UNTIMED,
  ...CHARTS.filter(({ figure }) => figure === 'requests' || figure === 'lag'),
];

/** The charts for which these members tell figures. */
export function chartsOf(members: readonly Member[]): readonly ChartSpec[] {
  const answering = members.filter(({ answers }) => answers);
  const areTimed = answering.length === 0 || answering.some(({ timings }) => timings !== undefined);
  return areTimed ? CHARTS : WITHOUT_TIMINGS;
}

export interface XY {
  readonly x: number;
  readonly y: number | null;
}

export interface Line {
  readonly member: number;
  readonly points: readonly XY[];
  /** The newest value; null if the last look gave none. */
  readonly newest: number | null;
}

/** The lines of a figure, one for each member. Points before the time `fromMs` are left out. */
export function linesOf(
  figure: Figure,
  { points, members }: { readonly points: readonly Point[]; readonly members: readonly number[] },
  fromMs: number,
): readonly Line[] {
  const recent = points.filter(({ atMs }) => atMs >= fromMs);
  return members.map((member) => {
    const xys = recent.map(({ atMs, figures }) => {
      return { x: atMs, y: figures.get(member)?.[figure] ?? null };
    });
    return { member, points: xys, newest: xys.at(-1)?.y ?? null };
  });
}
