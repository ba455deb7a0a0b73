/** Draws the members in `top`: the columns, cut to fit the terminal. Pure. */
import { clean, hex } from '../command/values.js';
import {
  aligned,
  type Column,
  cut,
  decimal,
  headOf,
  type Order,
  short,
  sorted,
} from './columns.js';
import { leadersOf, type Row } from './rows.js';

/** What is shown at a time. */
export const PAGES = ['members', 'paths', 'clients'] as const;
export type Page = (typeof PAGES)[number];

export interface Screen {
  readonly width: number;
  readonly height: number;
  readonly order: Order;
  readonly intervalS: number;
  /** The time of day, as text. */
  readonly time: string;
}

export interface Line {
  readonly text: string;
  readonly kind: 'title' | 'head' | 'row' | 'down' | 'foot';
}

const ADDRESS: Column<Row> = {
  head: 'MEMBER',
  isLeft: true,
  text: ({ address }) => clean(address),
  key: ({ address }) => address,
};
const ROLE: Column<Row> = {
  head: 'ROLE',
  isLeft: true,
  text: ({ role }) => role ?? 'down',
  key: ({ role }) => role,
};
const FIGURES: readonly Column<Row>[] = [
  {
    head: 'ZXID',
    // Its epoch and its counter: short enough for a column, and both can be read.
    text: ({ zxid }) => (zxid === null ? '-' : halves(zxid)),
    key: ({ zxid }) => zxid,
  },
  { head: 'LAG', text: ({ lag }) => short(lag), key: ({ lag }) => lag },
  { head: 'CONN', text: ({ connections: n }) => short(n), key: ({ connections: n }) => n },
  { head: 'OUT', text: ({ outstanding: n }) => short(n), key: ({ outstanding: n }) => n },
  { head: 'REQ/S', text: ({ requestsPerS: n }) => short(n), key: ({ requestsPerS: n }) => n },
  { head: 'AVG', text: ({ avgMs }) => decimal(avgMs), key: ({ avgMs }) => avgMs },
  { head: 'P99', text: ({ p99Ms }) => decimal(p99Ms), key: ({ p99Ms }) => p99Ms },
  { head: 'MAX', text: ({ maxMs }) => decimal(maxMs), key: ({ maxMs }) => maxMs },
  { head: 'NODES', text: ({ znodes }) => short(znodes), key: ({ znodes }) => znodes },
  { head: 'WATCH', text: ({ watches }) => short(watches), key: ({ watches }) => watches },
  { head: 'MEM', text: ({ treeBytes: n }) => short(n), key: ({ treeBytes: n }) => n },
];
export const COLUMNS: readonly Column<Row>[] = [ADDRESS, ROLE, ...FIGURES];

/** At most `height` lines of at most `width` characters. */
export function frameOf(rows: readonly Row[], screen: Screen): readonly Line[] {
  const { height, order } = screen;
  const { heads, columns, widths } = layout(rows, screen);
  const room = Math.max(1, height - FIXED_LINES);
  const members = sorted(rows, COLUMNS, order)
    .slice(0, room)
    .map((row): Line => {
      const texts = columns.map(({ text }) => text(row));
      if (row.problem === null) return { kind: 'row', text: aligned(texts, columns, widths) };
      const names = aligned(texts.slice(0, NAMES), columns, widths);
      return { kind: 'down', text: `${names} ${clean(row.problem)}` };
    });
  const lines: readonly Line[] = [
    { kind: 'title', text: titleOf(membersText(rows), screen) },
    { kind: 'head', text: aligned(heads, columns, widths) },
    ...members,
    { kind: 'foot', text: notShown(rows.length - members.length, columns) },
    { kind: 'foot', text: footOf(COLUMNS, order) },
  ];
  return fitted(lines, screen);
}

export function fitted(lines: readonly Line[], { width, height }: Screen): readonly Line[] {
  return lines.slice(0, height).map(({ kind, text }) => ({ kind, text: cut(text, width) }));
}

/** The title, the head, what is not shown, and the keys. */
export const FIXED_LINES = 4;
/** The columns that a member has although it does not serve. */
const NAMES = 2;

function serving(rows: readonly Row[]): readonly Row[] {
  return rows.filter(({ problem }) => problem === null);
}

/** Leaves out the last columns, one after the other, until the rest fits. */
function layout(rows: readonly Row[], { width, order }: Screen) {
  let columns = COLUMNS;
  for (;;) {
    const heads = columns.map((_, at) => headOf(columns, at, order));
    const widths = columns.map(({ text }, at) => {
      const shown = at < NAMES ? rows : serving(rows);
      return Math.max(heads[at]?.length ?? 0, ...shown.map((row) => text(row).length));
    });
    const total = widths.reduce((sum, size) => sum + size + 1, -1);
    if (total <= width || columns.length === NAMES) return { heads, columns, widths };
    columns = columns.slice(0, -1);
  }
}

function membersText(rows: readonly Row[]): string {
  const leaders = leadersOf(rows).map(({ address }) => clean(address));
  const [first = ''] = leaders;
  const who = leaders.length > 1 ? `${leaders.length} say that they lead` : `${first} leads`;
  const verdict = leaders.length === 0 ? 'no leader' : who;
  return `${serving(rows).length} of ${rows.length} serve, ${verdict}`;
}

/** The text, and on the right how often it is asked and when it was. */
export function titleOf(left: string, { width, time, intervalS }: Screen): string {
  const right = `every ${intervalS} s  ${time}`;
  return `${cut(left, width - right.length - 1).padEnd(width - right.length - 1)} ${right}`;
}

function notShown(members: number, columns: readonly Column<Row>[]): string {
  const heads = COLUMNS.slice(columns.length).map(({ head }) => head);
  const parts = [
    ...(members > 0 ? [`${members} more members`] : []),
    ...(heads.length > 0 ? [heads.join(', ')] : []),
  ];
  return parts.length === 0 ? '' : `No room for ${parts.join(' and ')}.`;
}

/** The keys; it fits in 80 characters. */
export function footOf<T>(columns: readonly Column<T>[], { column }: Order): string {
  const sort = `left/right sort (${columns[column]?.head})`;
  return `q quit   m members   p paths   c clients   ${sort}   r reverse`;
}

function halves(zxid: bigint): string {
  const epoch = (zxid >> 32n).toString(16);
  return `${epoch}:${(zxid & 0xffff_ffffn).toString(16)}`;
}

/** For scripts: numbers as they are, rounded to three decimals. */
export function rowJson(row: Row) {
  const { zxid, avgMs, requestsPerS, ...rest } = row;
  return {
    ...rest,
    zxid: zxid === null ? null : hex(zxid),
    avgMs: rounded(avgMs),
    requestsPerS: rounded(requestsPerS),
  };
}

function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(value * 1000) / 1000;
}
