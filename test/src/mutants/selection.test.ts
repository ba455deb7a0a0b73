/** The samples of CI cover every mutant, and the table states the result of a run. */
import { describe, expect, it } from 'vitest';
import type { Mutant } from './mutant.js';
import { isContent, tableOf } from './report.js';
import { named, sampled } from './selection.js';
import type { TrialResult, Verdict } from './trial.js';

const ALL: readonly Mutant[] = Array.from({ length: 10 }, (_, index) => ({
  name: `mutant-${index}`,
  area: 'zab',
  in: 'Zab',
  find: 'a',
  replace: 'b',
  breaks: 'nothing',
}));

function namesOf(mutants: readonly Mutant[]): readonly string[] {
  return mutants.map(({ name }) => name);
}

function result(name: string, verdict: Verdict): TrialResult {
  const about = { name, area: 'zab', breaks: 'nothing', message: '', requests: 7 };
  return { ...about, verdict, by: 'same digest', seeds: 3 };
}

describe('a sample', () => {
  it('is the same for the same number, and contains no mutant twice', () => {
    const one = namesOf(sampled(ALL, 4, 5));
    expect(namesOf(sampled(ALL, 4, 5))).toEqual(one);
    expect(new Set(one).size).toBe(4);
  });

  it('covers every mutant after enough samples', () => {
    const seen = new Set([0, 1, 2].flatMap((sample) => namesOf(sampled(ALL, 4, sample))));
    expect(seen.size).toBe(ALL.length);
  });

  it('is never larger than the catalogue', () => {
    expect(sampled(ALL, 100, 3)).toHaveLength(ALL.length);
  });
});

describe('mutants by name', () => {
  it('are exactly those that were named; an unknown name is refused', () => {
    expect(namesOf(named(ALL, ['mutant-7', 'mutant-2']))).toEqual(['mutant-2', 'mutant-7']);
    expect(() => named(ALL, ['mutant-11'])).toThrow('there is no mutant mutant-11');
  });
});

describe('a report', () => {
  it('is satisfactory only if every mutant was caught', () => {
    expect(isContent([result('a', 'caught')])).toBe(true);
    for (const verdict of ['survived', 'unnamed', 'hangs', 'does not count'] as const) {
      expect(isContent([result('a', 'caught'), result('b', verdict)])).toBe(false);
    }
  });

  it('names the mutants that were not caught, and counts the seeds of those that were', () => {
    const lines = tableOf([result('first', 'caught'), result('second', 'survived')]);
    expect(lines[1]).toMatch(/^first +caught +3 {2}same digest$/);
    expect(lines.at(-1)).toBe(
      '1 of 2 mutants caught, in 3.0 seeds on average, 14 requests in all; ' +
        'not caught: second (survived)',
    );
  });
});
