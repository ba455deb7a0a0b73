/**
 * Yields the first `count` elements of a lazy list. A generator over a map that grows meanwhile
 * would otherwise never end.
 */
export function* atMost<T>(count: number, all: Iterable<T>): Generator<T> {
  let left = count;
  for (const one of all) {
    if (left === 0) return;
    left -= 1;
    yield one;
  }
}
