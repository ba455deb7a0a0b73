/**
 * Checks whether the history of a set is linearizable if elements are only added, each once, and a
 * read returns all of them. The verdict is exactly that of the search, but the time grows only with
 * the total size of the reads.
 *
 * The sets that were read must form a chain, which divides time: an element was added between the
 * last set without it and the first set with it, and each read has its place at its set. What
 * remains to be checked is that no operation that was answered before another began comes later in
 * that order.
 */
import { checkPlaces, type Placed } from './places.js';

export interface SetAdd {
  readonly element: number;
  readonly calledAt: number;
  /** Null if the answer is unknown; the operation may or may not have taken effect. */
  readonly answeredAt: number | null;
}

export interface SetRead {
  readonly elements: readonly number[];
  readonly calledAt: number;
  readonly answeredAt: number;
}

/** What is wrong, in sentences; empty if the history is linearizable. */
export function checkGrowOnlySet(adds: readonly SetAdd[], reads: readonly SetRead[]): string[] {
  const levels = [...reads].sort((a, b) => a.elements.length - b.elements.length);
  const known = new Set(adds.map(({ element }) => element));
  const firstSeen = new Map<number, number>();
  const problems: string[] = [];
  let last: SetRead | undefined;
  for (const [level, read] of levels.entries()) {
    const shown = new Set(read.elements);
    if (shown.size < read.elements.length) problems.push(`${nameOf(read)} shows one element twice`);
    const missing = last?.elements.filter((element) => !shown.has(element)) ?? [];
    if (last !== undefined && missing.length > 0) {
      problems.push(`${nameOf(read)} lacks ${listed(missing)}, which ${nameOf(last)} shows`);
    }
    for (const element of shown) {
      if (!known.has(element))
        problems.push(`${nameOf(read)} shows ${element}, which nobody added`);
      if (!firstSeen.has(element)) firstSeen.set(element, level);
    }
    last = read;
  }
  if (problems.length > 0) return problems;
  return checkPlaces(placed(adds, levels, firstSeen));
}

/**
 * Reads of equal sets share a place; the additions between one set and the next are placed between
 * them.
 */
function placed(
  adds: readonly SetAdd[],
  levels: readonly SetRead[],
  firstSeen: ReadonlyMap<number, number>,
): Placed[] {
  const places = levels.map(({ elements }) => 2 * elements.length);
  const all: Placed[] = levels.map((read) => ({
    calledAt: read.calledAt,
    answeredAt: read.answeredAt,
    name: nameOf(read),
    place: 2 * read.elements.length,
  }));
  for (const { element, calledAt, answeredAt } of adds) {
    const level = firstSeen.get(element);
    // The answer is unknown and no read shows the element, so it need not have been added.
    if (level === undefined && answeredAt === null) continue;
    const place = level === undefined ? Number.POSITIVE_INFINITY : (places[level] ?? 0) - 1;
    const name = `the add of ${element}`;
    all.push({ name, calledAt, answeredAt: answeredAt ?? Number.POSITIVE_INFINITY, place });
  }
  return all;
}

function nameOf({ elements, answeredAt }: SetRead): string {
  return `the read of ${elements.length} elements at ${answeredAt}`;
}

function listed(elements: readonly number[]): string {
  const more = elements.length > 5 ? ` and ${elements.length - 5} more` : '';
  return `${elements.slice(0, 5).join(', ')}${more}`;
}
