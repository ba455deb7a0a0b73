/** The lines that `top` shows: columns, order of the rows, and what fits in the terminal. Pure. */
import { clean, hex } from '../shell/values.js';
import { leadersOf, type Row } from './rows.js';

interface Column {
  readonly head: string;
  readonly isLeft?: true;
  readonly text: (row: Row) => string;
  /** What rows are sorted by; null comes last. */
  readonly key: (row: Row) => number | bigint | string | null;
}

export interface Order {
  /** An index into COLUMNS. */
  readonly column: number;
  readonly isReversed: boolean;
}

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
  readonly kind: 'title' | 'head' | 'member' | 'down' | 'foot';
}

const ADDRESS: Column = {
  head: 'MEMBER',
  isLeft: true,
  text: ({ address }) => clean(address),
  key: ({ address }) => address,
};
const ROLE: Column = {
  head: 'ROLE',
  isLeft: true,
  text: ({ role }) => role ?? 'down',
  key: ({ role }) => role,
};
const FIGURES: readonly Column[] = [
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
export const COLUMNS: readonly Column[] = [ADDRESS, ROLE, ...FIGURES];

/** Text in its order, figures with the greatest first; members without a value stay last. */
export function sorted(rows: readonly Row[], { column, isReversed }: Order): readonly Row[] {
  const { key, isLeft } = COLUMNS[column] ?? ADDRESS;
  const isAscending = (isLeft === true) !== isReversed;
  return rows.toSorted((a, b) => {
    const [x, y] = [key(a), key(b)];
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    if (x === y) return 0;
    return x < y === isAscending ? -1 : 1;
  });
}

/** At most `height` lines of at most `width` characters. */
export function frameOf(rows: readonly Row[], screen: Screen): readonly Line[] {
  const { width, height, order } = screen;
  const { heads, columns, widths } = layout(rows, screen);
  const cells = (texts: readonly string[]) => {
    return texts
      .map((text, at) => {
        const size = widths[at] ?? 0;
        return columns[at]?.isLeft === true ? text.padEnd(size) : text.padStart(size);
      })
      .join(' ');
  };
  const room = Math.max(1, height - FIXED_LINES);
  const inOrder = sorted(rows, order);
  const members = inOrder.slice(0, room).map((row): Line => {
    if (row.problem === null) {
      return { kind: 'member', text: cells(columns.map(({ text }) => text(row))) };
    }
    const names = cells([ADDRESS, ROLE].map(({ text }) => text(row)));
    return { kind: 'down', text: `${names} ${clean(row.problem)}` };
  });
  const lines: Line[] = [
    { kind: 'title', text: titleOf(rows, screen) },
    { kind: 'head', text: cells(heads) },
    ...members,
    { kind: 'foot', text: notShown(rows.length - members.length, columns) },
    { kind: 'foot', text: footOf(order) },
  ];
  return lines.map(({ kind, text }) => ({ kind, text: cut(text, width) }));
}

/** The title, the head, what is not shown, and the keys. */
const FIXED_LINES = 4;

function serving(rows: readonly Row[]): readonly Row[] {
  return rows.filter(({ problem }) => problem === null);
}

/** Leaves out the last columns, one after the other, until the rest fits. */
function layout(rows: readonly Row[], { width, order }: Screen) {
  let columns = COLUMNS;
  for (;;) {
    const heads = columns.map((column) => headOf(column, order));
    const widths = columns.map(({ text }, at) => {
      const shown = at < 2 ? rows : serving(rows);
      return Math.max(heads[at]?.length ?? 0, ...shown.map((row) => text(row).length));
    });
    const total = widths.reduce((sum, size) => sum + size + 1, -1);
    if (total <= width || columns.length === 2) return { heads, columns, widths };
    columns = columns.slice(0, -1);
  }
}

function headOf(column: Column, { column: at, isReversed }: Order): string {
  if (COLUMNS[at] !== column) return column.head;
  return `${column.head}${(column.isLeft === true) !== isReversed ? '↑' : '↓'}`;
}

function titleOf(rows: readonly Row[], { width, time, intervalS }: Screen): string {
  const leaders = leadersOf(rows).map(({ address }) => clean(address));
  const [first = ''] = leaders;
  const who = leaders.length > 1 ? `${leaders.length} say that they lead` : `${first} leads`;
  const verdict = leaders.length === 0 ? 'nobody leads' : who;
  const left = `${serving(rows).length} of ${rows.length} serve, ${verdict}`;
  const right = `every ${intervalS} s  ${time}`;
  return `${cut(left, width - right.length - 1).padEnd(width - right.length - 1)} ${right}`;
}

function notShown(members: number, columns: readonly Column[]): string {
  const heads = COLUMNS.slice(columns.length).map(({ head }) => head);
  const parts = [
    ...(members > 0 ? [`${members} more members`] : []),
    ...(heads.length > 0 ? [heads.join(', ')] : []),
  ];
  return parts.length === 0 ? '' : `No room for ${parts.join(' and ')}.`;
}

function footOf({ column }: Order): string {
  return `q quit   left/right sort by another column (${COLUMNS[column]?.head})   r reverse`;
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
}

function halves(zxid: bigint): string {
  const epoch = (zxid >> 32n).toString(16);
  return `${epoch}:${(zxid & 0xffff_ffffn).toString(16)}`;
}

const UNITS = ['', 'k', 'M', 'G', 'T'] as const;

/** At most four characters for what is below 10^15; `-` for what is not known. */
export function short(value: number | null): string {
  if (value === null) return '-';
  let rest = value;
  let unit = 0;
  while (Math.round(rest) >= (unit === 0 ? 10_000 : 1000) && unit < UNITS.length - 1) {
    rest /= 1000;
    unit++;
  }
  const digits = unit > 0 && rest < 9.95 ? 1 : 0;
  return `${rest.toFixed(digits)}${UNITS[unit]}`;
}

/** Milliseconds: with one decimal below ten. */
export function decimal(ms: number | null): string {
  return ms !== null && ms > 0 && ms < 9.95 ? ms.toFixed(1) : short(ms);
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
