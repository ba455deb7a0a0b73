/**
 * Checks whether a queue's history is linearizable if each element is added at most once. The
 * verdict is exactly that of the search, in time O(n log n), by looking for the patterns that no
 * queue can show (Henzinger, Sezgin, Vafeiadis: Aspect-Oriented Linearizability Proofs, 2013): an
 * element that was never added, one that is removed twice or out of order, or an empty queue that
 * was never empty. An unordered queue is checked in the same way, without the order.
 *
 * An operation without an answer is given the most favourable outcome, which is always the same: a
 * removal took place if nobody else removed the element, an addition if somebody got it.
 */
export interface Enqueue {
  readonly element: number;
  readonly calledAt: number;
  /** Null if it is unknown whether the operation took effect. */
  readonly answeredAt: number | null;
}

export interface Dequeue {
  /** Null if the queue was empty. Without an answer: the element that it may have removed. */
  readonly element: number | null;
  readonly calledAt: number;
  readonly answeredAt: number | null;
}

export interface QueueHistory {
  readonly enqueues: readonly Enqueue[];
  readonly dequeues: readonly Dequeue[];
}

/** What is wrong, in sentences; empty if the history is linearizable. */
export function checkQueue(history: QueueHistory, { isOrdered }: { isOrdered: boolean }): string[] {
  const problems: string[] = [];
  const lives = livesOf(history, problems);
  if (isOrdered) problems.push(...orderProblems(lives));
  problems.push(...emptyProblems(lives, history.dequeues));
  return problems;
}

/**
 * The two intervals of an element; `never` (infinity) for an operation that was not answered or did
 * not happen.
 */
interface Life {
  readonly element: number;
  readonly added: { readonly from: number; readonly to: number };
  readonly removed: { readonly from: number; readonly to: number };
}

const never = Number.POSITIVE_INFINITY;

function livesOf({ enqueues, dequeues }: QueueHistory, problems: string[]): Life[] {
  const removals = removalsOf(dequeues, problems);
  const lives: Life[] = [];
  const added = new Set<number>();
  for (const { element, calledAt, answeredAt } of enqueues) {
    const removal = removals.get(element);
    added.add(element);
    if (answeredAt === null && (removal === undefined || removal.to === never)) continue;
    const removed = removal ?? { from: never, to: never };
    if (removed.to < calledAt) problems.push(`${element} was removed before it was added`);
    lives.push({ element, added: { from: calledAt, to: answeredAt ?? never }, removed });
  }
  for (const [element, { to }] of removals) {
    if (!added.has(element) && to !== never)
      problems.push(`${element} was removed but never added`);
  }
  return lives;
}

function removalsOf(
  dequeues: readonly Dequeue[],
  problems: string[],
): Map<number, { readonly from: number; readonly to: number }> {
  const removals = new Map<number, { readonly from: number; readonly to: number }>();
  for (const { element, calledAt, answeredAt } of dequeues) {
    if (element === null) continue;
    const other = removals.get(element);
    if (answeredAt === null) {
      const isBetter = other === undefined || (other.to === never && calledAt < other.from);
      if (isBetter) removals.set(element, { from: calledAt, to: never });
    } else {
      if (other !== undefined && other.to !== never) problems.push(`${element} was removed twice`);
      removals.set(element, { from: calledAt, to: answeredAt });
    }
  }
  return removals;
}

function orderProblems(lives: readonly Life[]): string[] {
  const problems: string[] = [];
  const byEnd = [...lives].sort((a, b) => a.added.to - b.added.to);
  let ended = 0;
  let latest: Life | undefined;
  for (const life of [...lives].sort((a, b) => a.added.from - b.added.from)) {
    for (; ended < byEnd.length; ended++) {
      const before = byEnd[ended];
      if (before === undefined || before.added.to >= life.added.from) break;
      if (latest === undefined || before.removed.from > latest.removed.from) latest = before;
    }
    if (latest === undefined || life.removed.to >= latest.removed.from) continue;
    const late =
      latest.removed.from === never ? 'which was not removed at all' : 'which was removed later';
    problems.push(
      `${life.element} was removed before ${latest.element}, which was added earlier and ${late}`,
    );
  }
  return problems;
}

/**
 * Finding the queue empty is wrong if some element was certainly in it at each moment of the
 * operation.
 */
function emptyProblems(lives: readonly Life[], dequeues: readonly Dequeue[]): string[] {
  const empties = dequeues
    .filter(({ element, answeredAt }) => element === null && answeredAt !== null)
    .sort((a, b) => a.calledAt - b.calledAt);
  if (empties.length === 0) return [];
  const spans = spansOf(lives);
  const problems: string[] = [];
  let at = 0;
  for (const { calledAt, answeredAt } of empties) {
    while (at < spans.length && (spans[at]?.to ?? never) <= calledAt) at++;
    const span = spans[at];
    if (span === undefined || answeredAt === null) continue;
    if (span.from < calledAt && span.to > answeredAt) {
      problems.push(`found empty at ${calledAt} to ${answeredAt}, but ${span.element} was in it`);
    }
  }
  return problems;
}

/** The spans in which the queue was certainly not empty: they do not touch, and are in order. */
function spansOf(lives: readonly Life[]): { from: number; to: number; element: number }[] {
  const certain = lives
    .map(({ element, added, removed }) => ({ element, from: added.to, to: removed.from }))
    .filter(({ from, to }) => from < to)
    .sort((a, b) => a.from - b.from);
  const spans: { from: number; to: number; element: number }[] = [];
  for (const one of certain) {
    const last = spans.at(-1);
    if (last !== undefined && one.from < last.to) last.to = Math.max(last.to, one.to);
    else spans.push({ ...one });
  }
  return spans;
}
