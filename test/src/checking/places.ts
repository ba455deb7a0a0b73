/**
 * When the order of effects is known (by a version, a sequence number, or the set that was read),
 * linearizability is a question about pairs: an operation that was answered before another was
 * called must not come later in that order.
 */
export interface Placed {
  /** The name of the operation in messages. */
  readonly name: string;
  readonly calledAt: number;
  /** Infinity if the operation was not answered. */
  readonly answeredAt: number;
  /** The place in the order of effects; operations at the same place may be in any order. */
  readonly place: number;
}

/** The operations that were called after the answer of one with a later place, in sentences. */
export function checkPlaces(all: readonly Placed[]): string[] {
  const problems: string[] = [];
  const byAnswer = [...all].sort((a, b) => a.answeredAt - b.answeredAt);
  let answered = 0;
  let highest: Placed | undefined;
  for (const one of [...all].sort((a, b) => a.calledAt - b.calledAt)) {
    for (; answered < byAnswer.length; answered++) {
      const before = byAnswer[answered];
      if (before === undefined || before.answeredAt >= one.calledAt) break;
      if (highest === undefined || before.place > highest.place) highest = before;
    }
    if (highest === undefined || highest.place <= one.place) continue;
    problems.push(`${one.name} was called after the answer of ${highest.name}, but came before it`);
  }
  return problems;
}
