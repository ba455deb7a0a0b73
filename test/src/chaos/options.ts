/**
 * The arguments of `npm run chaos`, and the command that runs the same again.
 */
import { parseArgs } from 'node:util';

export interface ChaosOptions {
  readonly minutes: number;
  readonly members: number;
  /** The names of the nemeses to use; null for all that are possible on this machine. */
  readonly nemeses: readonly string[] | null;
  readonly workloads: readonly string[] | null;
  readonly seed: number;
  /** The directory that keeps histories and logs; null for one that is removed when all is well. */
  readonly keep: string | null;
}

/** The arguments make no sense; the message tells the user why. */
export class UsageError extends Error {}

export const USAGE = `Usage: npm run chaos -- [options], as root
  --minutes 10        how long there are faults
  --members 3         or 5
  --nemeses a,b       only these
  --workloads x,y     only these
  --seed N            repeats a run's choices
  --keep DIR          histories, logs and the report stay there
  --list              names all nemeses and workloads`;

export interface Known {
  readonly nemeses: readonly string[];
  readonly workloads: readonly string[];
}

/** Calls `chooseSeed` if no seed is given. Throws UsageError. */
export function parseOptions(
  args: readonly string[],
  known: Known,
  chooseSeed: () => number,
): ChaosOptions | 'list' {
  const values = valuesOf(args);
  if (values.list === true) return 'list';
  const seed = values.seed === undefined ? chooseSeed() : numberOf('seed', values.seed);
  if (!Number.isInteger(seed) || seed >= 2 ** 32) throw new UsageError('--seed: 0 to 4294967295');
  const members = numberOf('members', values.members ?? '3');
  if (members !== 3 && members !== 5) throw new UsageError('--members: 3 or 5');
  const minutes = numberOf('minutes', values.minutes ?? '10');
  if (minutes <= 0) throw new UsageError('--minutes: more than 0');
  return {
    minutes,
    members,
    seed,
    nemeses: namesOf('nemeses', values.nemeses, known.nemeses),
    workloads: namesOf('workloads', values.workloads, known.workloads),
    keep: values.keep ?? null,
  };
}

/** Returns the command line of a run with the same choices. */
export function commandOf(options: ChaosOptions): string {
  const { minutes, members, nemeses, workloads, seed } = options;
  const parts = [`npm run chaos -- --minutes ${minutes} --members ${members} --seed ${seed}`];
  if (nemeses !== null) parts.push(`--nemeses ${nemeses.join(',')}`);
  if (workloads !== null) parts.push(`--workloads ${workloads.join(',')}`);
  return parts.join(' ');
}

function valuesOf(args: readonly string[]) {
  try {
    const text = { type: 'string' } as const;
    return parseArgs({
      args: [...args],
      options: {
        minutes: text,
        members: text,
        nemeses: text,
        workloads: text,
        seed: text,
        keep: text,
        list: { type: 'boolean' },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function numberOf(option: string, text: string): number {
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text);
  throw new UsageError(`--${option}: a number, not ${JSON.stringify(text)}`);
}

function namesOf(
  option: string,
  text: string | undefined,
  known: readonly string[],
): readonly string[] | null {
  if (text === undefined) return null;
  const names = text.split(',').filter((name) => name !== '');
  const strange = names.filter((name) => !known.includes(name));
  if (strange.length === 0 && names.length > 0) return names;
  throw new UsageError(`--${option}: ${strange.join(', ') || 'nothing'} is not among
  ${known.join(', ')}`);
}
