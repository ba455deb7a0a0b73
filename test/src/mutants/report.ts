/** The table of a mutation run, and whether the run is satisfactory. Pure. */
import type { TrialResult } from './trial.js';

const BY_COLUMNS = 100;

/** Lines: one for each mutant, then the sums. */
export function tableOf(results: readonly TrialResult[]): readonly string[] {
  const width = Math.max(6, ...results.map(({ name }) => name.length));
  const head = `${'mutant'.padEnd(width)}  verdict         seeds  caught by`;
  return [head, ...results.map((result) => rowOf(result, width)), summaryOf(results)];
}

export function rowOf({ name, verdict, seeds, by }: TrialResult, width: number): string {
  const count = seeds === 0 ? '-' : `${seeds}`;
  const what = by.length > BY_COLUMNS ? `${by.slice(0, BY_COLUMNS - 3)}...` : by;
  return `${name.padEnd(width)}  ${verdict.padEnd(14)}  ${count.padStart(5)}  ${what}`;
}

export function summaryOf(results: readonly TrialResult[]): string {
  const caught = results.filter(({ verdict }) => verdict === 'caught');
  const seeds = caught.reduce((sum, result) => sum + result.seeds, 0);
  const requests = results.reduce((sum, result) => sum + result.requests, 0);
  const rest = results
    .filter(({ verdict }) => verdict !== 'caught')
    .map(({ name, verdict }) => `${name} (${verdict})`);
  const missed = rest.length === 0 ? '' : `; not caught: ${rest.join(', ')}`;
  const mean = caught.length === 0 ? 0 : seeds / caught.length;
  return (
    `${caught.length} of ${results.length} mutants caught, ` +
    `in ${mean.toFixed(1)} seeds on average, ${requests} requests in all${missed}`
  );
}

export function isContent(results: readonly TrialResult[]): boolean {
  return results.every(({ verdict }) => verdict === 'caught');
}
