/**
 * Checks that plain reads keep the service's promise: each reader sees the registers as they were
 * after some prefix of all writes, and never goes back to a shorter one.
 *
 * The order of all writes is known, because every value carries the zxid of its write. A reader's
 * view is thus one number, the zxid that it has certainly reached, and a read that shows a value
 * which was replaced at or before that zxid is stale. A reader's own write, once answered, counts
 * as reached. Together with linearizable writes this is sequential consistency; by the clocks of
 * others a read may be old.
 */
export interface PrefixStep {
  readonly reader: string | number;
  readonly register: string | number;
  /** For a read, the zxid of the value that it shows; for a write, its own zxid. */
  readonly zxid: number;
  readonly kind: 'read' | 'wrote';
  /** The highest zxid that the reader had seen when it received this answer; 0 if unknown. */
  readonly reached: number;
  /** The position in the history, for messages. */
  readonly at: number;
}

/** Zxids of writes to each register that are known in addition to those in `steps`. */
export type KnownWrites = ReadonlyMap<string | number, readonly number[]>;

/** `steps` contains each reader's steps in order. Returns what is wrong, in sentences. */
export function checkPrefixReads(
  steps: readonly PrefixStep[],
  known: KnownWrites = new Map(),
): string[] {
  const writes = writesOf(steps, known);
  const reached = new Map<string | number, number>();
  const problems: string[] = [];
  for (const { reader, register, zxid, kind, reached: told, at } of steps) {
    const before = reached.get(reader) ?? 0;
    if (kind === 'read') {
      const newest = newestUpTo(writes.get(register) ?? [], before);
      if (newest > zxid) {
        problems.push(
          `${reader} read at ${at} register ${register} as of ${hex(zxid)}, replaced at ` +
            `${hex(newest)}, when it had already seen ${hex(before)}`,
        );
      }
    } else if (zxid <= before) {
      problems.push(`${reader} wrote at ${at} with ${hex(zxid)}, having seen ${hex(before)}`);
    }
    reached.set(reader, Math.max(before, zxid, told));
  }
  return problems;
}

function writesOf(
  steps: readonly PrefixStep[],
  known: KnownWrites,
): Map<string | number, number[]> {
  const sets = new Map<string | number, Set<number>>();
  const setOf = (register: string | number) => {
    const set = sets.get(register) ?? new Set<number>();
    sets.set(register, set);
    return set;
  };
  for (const [register, zxids] of known) for (const zxid of zxids) setOf(register).add(zxid);
  for (const { register, zxid } of steps) setOf(register).add(zxid);
  const entries = [...sets].map(
    ([register, set]) => [register, [...set].sort((a, b) => a - b)] as const,
  );
  return new Map(entries);
}

/** Returns the highest of the sorted zxids that is not above the limit; 0 if there is none. */
function newestUpTo(zxids: readonly number[], limit: number): number {
  let low = 0;
  let high = zxids.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((zxids[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return zxids[low - 1] ?? 0;
}

function hex(zxid: number): string {
  return `0x${zxid.toString(16)}`;
}
