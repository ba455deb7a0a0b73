/**
 * The results of the last runs of all mutants, kept with the sources: what caught each, and in how
 * many seeds. `sim:mutants -- --record` writes it. CI takes its sample from the quick ones.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Mutant } from './mutant.js';
import type { TrialResult } from './trial.js';
import { ROOT } from './workspace.js';

export interface Caught {
  /** The property of a checker, or the text of an invariant. */
  readonly by: string;
  readonly seeds: number;
}

/** Results by the mutant's name. */
export type Recorded = Readonly<Record<string, Caught>>;

const FILE = join(ROOT, 'test/src/mutants/recorded.json');

export async function readRecorded(): Promise<Recorded> {
  return JSON.parse(await readFile(FILE, 'utf8'));
}

/** These results replace what was known about their mutants. */
export async function record(results: readonly TrialResult[]): Promise<void> {
  const recorded: Record<string, Caught> = { ...(await readRecorded()) };
  for (const { name, verdict, by, seeds } of results) {
    delete recorded[name];
    if (verdict === 'caught') recorded[name] = { by, seeds };
  }
  const entries = Object.entries(recorded).sort(([one], [other]) => (one < other ? -1 : 1));
  await writeFile(FILE, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`);
}

/** The mutants that were caught within this many seeds. */
export function quick(
  all: readonly Mutant[],
  recorded: Recorded,
  seedsMax: number,
): readonly Mutant[] {
  return all.filter(({ name }) => (recorded[name]?.seeds ?? Number.POSITIVE_INFINITY) <= seedsMax);
}
