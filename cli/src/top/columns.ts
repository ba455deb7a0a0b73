/**
 * Columns of a table in `top`: what they show, how rows are sorted by them, and numbers in few
 * characters. Pure.
 */

export interface Column<Row> {
  readonly head: string;
  readonly isLeft?: true;
  readonly text: (row: Row) => string;
  /** What rows are sorted by; null comes last. */
  readonly key: (row: Row) => number | bigint | string | null;
}

export interface Order {
  /** An index into the columns of the table. */
  readonly column: number;
  readonly isReversed: boolean;
}

/** Text in its order, figures with the greatest first; rows without a value stay last. */
export function sorted<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { column, isReversed }: Order,
): readonly Row[] {
  const by = columns[column];
  if (by === undefined) return rows;
  const isAscending = (by.isLeft === true) !== isReversed;
  return rows.toSorted((a, b) => {
    const [x, y] = [by.key(a), by.key(b)];
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    if (x === y) return 0;
    return x < y === isAscending ? -1 : 1;
  });
}

/** The head of a column, with an arrow if rows are sorted by it. */
export function headOf<Row>(
  columns: readonly Column<Row>[],
  at: number,
  { column, isReversed }: Order,
): string {
  const { head = '', isLeft = false } = columns[at] ?? {};
  if (at !== column) return head;
  return `${head}${isLeft !== isReversed ? '↑' : '↓'}`;
}

/** The texts of one row under each other with those of other rows. */
export function aligned<Row>(
  texts: readonly string[],
  columns: readonly Column<Row>[],
  widths: readonly number[],
): string {
  const cells = texts.map((text, at) => {
    const size = widths[at] ?? 0;
    return columns[at]?.isLeft === true ? text.padEnd(size) : text.padStart(size);
  });
  return cells.join(' ');
}

export function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
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

/** Like `short`, with one decimal below ten. */
export function decimal(value: number | null): string {
  return value !== null && value > 0 && value < 9.95 ? value.toFixed(1) : short(value);
}
