/** Cuts a turn's requests or proposals into messages of bounded size; order is kept. */

/** Each chunk has at least one item, and no more once its bodies have `bytesMax` bytes. */
export function* chunksByBytes<T extends { readonly body: Uint8Array }>(
  items: readonly T[],
  bytesMax: number,
): Iterable<readonly T[]> {
  let from = 0;
  let bytes = 0;
  for (const [index, item] of items.entries()) {
    bytes += item.body.length;
    if (bytes < bytesMax) continue;
    yield items.slice(from, index + 1);
    from = index + 1;
    bytes = 0;
  }
  if (from < items.length) yield from === 0 ? items : items.slice(from);
}
