/** The table of named bugs is complete, and everything that it names exists. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { namedMutants } from '../mutants/named/index.js';
import { ROOT } from '../mutants/workspace.js';
import { namedBugs } from './table.js';

/** Every consistency bug of ZooKeeper that was collected before this server was designed. */
const COLLECTED = [
  ...[1154, 1549, 2678, 2845, 2355, 4678, 3642, 5094, 3023, 3911, 4646, 4643, 4685, 4394, 4712],
  ...[4785, 4925, 2846, 2418, 4352, 3526, 4837, 1653, 2354, 2307, 4269, 335, 3608],
  ...[1817, 1818, 1732, 582, 917, 3127, 3144, 3249, 3306, 4846, 4689, 2325, 3056, 3644],
  ...[2332, 1621, 4813, 3496, 4306, 2101, 1277, 2789, 4883, 1367, 1208, 919, 1675, 2136],
  ...[4814, 4508, 1412, 4466, 4471, 4475, 4472, 4655, 4203, 1506, 2982, 2184],
];

function textOf(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}
function mutantOf(name: string) {
  return namedMutants.find((mutant) => mutant.name === name);
}

describe('the table of named bugs', () => {
  it('contains every bug that was collected, and no other', () => {
    const ascending = (numbers: Iterable<number>) => [...numbers].sort((a, b) => a - b);
    const issues = new Set(namedBugs.flatMap((bug) => bug.issues));
    expect(ascending(issues)).toEqual(ascending(COLLECTED));
  });

  it.each(namedBugs)('has a mutant and a scenario with the issues in its name: $mutant', (bug) => {
    const mutant = mutantOf(bug.mutant);
    const { file = '', name = '' } = mutant?.scenario ?? {};
    if (bug.kind === 'trace') {
      expect(`test/traces/${name}`).toBe(bug.where);
      const [head = ''] = textOf(bug.where).split(':', 1);
      expect(head.match(/\d+/g)?.map(Number)).toEqual(bug.issues);
      return;
    }
    expect(file).toBe(bug.where);
    expect(textOf(file)).toContain(`it('${name}'`);
    expect([...name.matchAll(/ZK-(\d+)/g)].map((match) => Number(match[1]))).toEqual(
      expect.arrayContaining([...bug.issues]),
    );
  });

  it('names every mutant of the named bugs once', () => {
    const names = namedBugs.map((bug) => bug.mutant).sort();
    expect(names).toEqual(namedMutants.map((mutant) => mutant.name).sort());
  });
});
