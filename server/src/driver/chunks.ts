/** Cuts a turn's requests or proposals into messages of bounded size; order is kept. */

/** Each chunk has one item, or several whose bodies have no more than `bytesMax` bytes together. */
export function* chunksByBytes<T extends { readonly body: Uint8Array }>(
  items: readonly T[],
  bytesMax: number,
): Iterable<readonly T[]> {
  let from = 0;
  let bytes = 0;
  for (const [index, item] of items.entries()) {
    if (index > from && bytes + item.body.length > bytesMax) {
      yield items.slice(from, index);
      from = index;
      bytes = 0;
    }
    bytes += item.body.length;
  }
  if (from < items.length) yield from === 0 ? items : items.slice(from);
}
