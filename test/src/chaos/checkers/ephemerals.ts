/**
 * Checks ephemeral znodes by the reads that list all of them.
 *
 * A session was alive at least until it called its last operation that succeeded. Until then, reads
 * must show what it had created and not asked to delete. What was deleted, or was seen to be gone,
 * must not come back. In the end, when every session is over, nothing may be left.
 */
import type { HistoryEntry } from '../history/entry.js';
import { type HistoryOperation, operationsOf } from '../history/history-reader.js';
import type { Verdict } from '../workloads/workload.js';
import { countsOf, listOf, textOf, verdictOf } from './verdicts.js';

interface Read {
  readonly names: ReadonlySet<string>;
  readonly calledAt: number;
  readonly endedAt: number;
  readonly isFinal: boolean;
}

interface Life {
  readonly name: string;
  readonly session: string;
  /** Infinity if the outcome of the create is unknown. */
  readonly createdAt: number;
  readonly calledAt: number;
  /** When its deletion was called; Infinity if it never was. */
  readonly deletionCalledAt: number;
  readonly deletedAt: number;
}

export function checkEphemerals(history: readonly HistoryEntry[]): Verdict {
  const operations = operationsOf(history);
  const reads = operations
    .filter(({ f, outcome }) => (f === 'read' || f === 'final') && outcome === 'ok')
    .map(readOf)
    .sort((a, b) => a.calledAt - b.calledAt);
  const lives = livesOf(operations);
  const problems = [
    ...leftProblems(reads),
    ...returnProblems(reads, lives),
    ...missingProblems(reads, lives, lastSignsOfLife(operations)),
  ];
  const unknown = reads.some(({ isFinal }) => isFinal) ? [] : ['there was no final read'];
  return verdictOf(operations, { problems, unknown, counts: countsOf(operations) });
}

function readOf({ f, value, calledAt, endedAt }: HistoryOperation): Read {
  const names = new Set(listOf(value).map(textOf));
  return { names, calledAt, endedAt, isFinal: f === 'final' };
}

function livesOf(operations: readonly HistoryOperation[]): Map<string, Life> {
  const never = Number.POSITIVE_INFINITY;
  const lives = new Map<string, Life>();
  for (const { f, outcome, asked, calledAt, endedAt } of operations) {
    if (outcome === 'fail' || (f !== 'create' && f !== 'delete')) continue;
    const name = textOf(asked);
    const answeredAt = outcome === 'ok' ? endedAt : never;
    if (f === 'create') {
      const [session = ''] = name.split('-');
      const ends = { deletionCalledAt: never, deletedAt: never };
      lives.set(name, { name, session, calledAt, createdAt: answeredAt, ...ends });
    } else {
      const life = lives.get(name);
      if (life === undefined) throw new Error(`${name} was deleted but never made`);
      lives.set(name, { ...life, deletionCalledAt: calledAt, deletedAt: answeredAt });
    }
  }
  return lives;
}

function leftProblems(reads: readonly Read[]): string[] {
  return reads
    .filter(({ isFinal }) => isFinal)
    .flatMap(({ names }) => [...names].map((name) => `${name} is left of a session that is over`));
}

function returnProblems(reads: readonly Read[], lives: ReadonlyMap<string, Life>): string[] {
  const problems: string[] = [];
  const present = new Set<string>();
  const goneAt = new Map<string, number>();
  const created = [...lives.values()].sort((a, b) => a.createdAt - b.createdAt);
  let next = 0;
  for (const { names, calledAt, endedAt } of reads) {
    for (; (created[next]?.createdAt ?? calledAt) < calledAt; next++) {
      present.add(created[next]?.name ?? '');
    }
    for (const name of present) {
      if (names.has(name)) continue;
      present.delete(name);
      goneAt.set(name, endedAt);
    }
    for (const name of names) {
      const life = lives.get(name);
      if (life === undefined || life.calledAt > endedAt) {
        problems.push(`${name} was there at ${endedAt}, and nobody had made it`);
      } else if (life.deletedAt < calledAt) {
        problems.push(`${name} was there at ${calledAt}, deleted at ${life.deletedAt}`);
      } else if ((goneAt.get(name) ?? calledAt) < calledAt) {
        problems.push(`${name} was there at ${calledAt}, after it had gone`);
      }
    }
  }
  return problems;
}

/** Returns for each session when it called its last operation that succeeded. */
function lastSignsOfLife(operations: readonly HistoryOperation[]): Map<string, number> {
  const signs = new Map<string, number>();
  for (const { f, session, outcome, calledAt } of operations) {
    if (outcome !== 'ok' || session === null || f === 'close' || f === 'vanish') continue;
    signs.set(session, Math.max(signs.get(session) ?? 0, calledAt));
  }
  return signs;
}

function missingProblems(
  reads: readonly Read[],
  lives: ReadonlyMap<string, Life>,
  signs: ReadonlyMap<string, number>,
): string[] {
  const problems: string[] = [];
  for (const { name, session, createdAt, deletionCalledAt } of lives.values()) {
    const until = Math.min(signs.get(session) ?? 0, deletionCalledAt);
    for (let at = firstAfter(reads, createdAt); at < reads.length; at++) {
      const read = reads[at];
      if (read === undefined || read.calledAt >= until) break;
      if (read.endedAt >= until || read.names.has(name)) continue;
      problems.push(`${name} was gone at ${read.endedAt}, its session alive until ${until}`);
      break;
    }
  }
  return problems;
}

/** Returns the index of the first read that was called after `at`; reads are in order of calls. */
function firstAfter(reads: readonly Read[], at: number): number {
  let low = 0;
  let high = reads.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((reads[middle]?.calledAt ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}
