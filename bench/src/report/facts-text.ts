/**
 * The head of every report: when, what, and on which machine. Each line is one fact, as name and
 * value.
 */
import type { Results } from './results.js';
import { summarize } from './statistics.js';
import { significant } from './units.js';

export function factLines(results: Results): readonly (readonly [string, string])[] {
  const { machine, settings, resumedAt = [], again = [], baseline = null } = results;
  const sync = machine.fdatasyncUs;
  const times = [results.startedAt, ...resumedAt].join(', resumed ');
  return [
    ['measured', `${times}, commit ${results.commit}`],
    ...again.map(({ at, commit, scenarios }): readonly [string, string] => [
      'measured again',
      `${at}, commit ${commit}: ${scenarios.join(', ')}`,
    ]),
    ...(baseline === null ? [] : [['baseline', `commit ${baseline}`] as const]),
    ['processor', `${machine.cpu}, ${machine.cores} cores`],
    ['memory', `${Math.round(machine.memoryBytes / 1e9)} GB`],
    ['kernel', machine.kernel],
    ['file system', machine.fileSystem],
    ['fdatasync of 4 KB', `median ${significant(sync.median)} us, p99 ${significant(sync.p99)} us`],
    ['Node, Java', `${machine.node}, ${machine.java}`],
    ['load average before', significant(machine.loadBefore)],
    ['kept by the host', stolenText(results)],
    ['rounds', `${settings.rounds} of ${settings.seconds} s${settings.isQuick ? ', quick' : ''}`],
    ['systems', results.systems.join(' next to ')],
  ];
}

/** What a reader must know before believing any number; null if there is nothing. */
export function caveat(results: Results): string | null {
  if (results.settings.isQuick) {
    return 'A quick run: sizes are tiny, its figures mean nothing, and the targets are not judged.';
  }
  if (results.machine.loadBefore > 1) {
    return 'The machine was busy with other work when the run began.';
  }
  return null;
}

/** Old files do not contain the steal time. */
function stolenText({ runs }: Results): string {
  const summary = summarize(runs.map(({ measurement }) => measurement.stolenShare ?? Number.NaN));
  if (summary === null) return 'unknown';
  const percent = (share: number) => `${significant(100 * share)} %`;
  return `${percent(summary.median)} of the processor time of a run, at most ${percent(summary.highest)}`;
}
