/** Cuts requests or proposals into messages of bounded size; order is kept. */

/** Each chunk has one item, or several whose sizes are no more than `bytesMax` together. */
export function* chunksByBytes<T>(
  items: readonly T[],
  bytesMax: number,
  bytesOf: (item: T) => number,
): Iterable<readonly T[]> {
  let from = 0;
  let bytes = 0;
  for (const [index, item] of items.entries()) {
    const own = bytesOf(item);
    if (index > from && bytes + own > bytesMax) {
      yield items.slice(from, index);
      from = index;
      bytes = 0;
    }
    bytes += own;
  }
  if (from < items.length) yield from === 0 ? items : items.slice(from);
}
