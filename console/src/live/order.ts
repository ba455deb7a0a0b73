/**
 * The order of a table by one of its columns. Pure.
 */
export interface Order<Column> {
  readonly column: Column;
  readonly isDescending: boolean;
}

/** What a row is sorted by; null for what is not known. */
export type Key = bigint | number | string | null;

/** Equal rows stay as they were; those whose key is null are last, whatever the direction. */
export function sortedBy<T>(
  rows: readonly T[],
  keyOf: (row: T) => Key,
  isDescending: boolean,
): readonly T[] {
  const keyed = rows.map((row) => ({ row, key: keyOf(row) }));
  keyed.sort(({ key: a }, { key: b }) => {
    if (a === b) return 0;
    if (a === null || b === null) return a === null ? 1 : -1;
    return a < b === isDescending ? 1 : -1;
  });
  return keyed.map(({ row }) => row);
}
