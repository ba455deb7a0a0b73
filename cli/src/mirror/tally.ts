/**
 * Counts what a mirror has done, found and could not do. Its memory is bounded: it keeps a few
 * paths of each kind of trouble, and counts all.
 */
import type { Raising } from './sequences.js';

const EXAMPLES_MAX = 10;

/** Each path was refused, or differs, for a reason that a person must examine. */
export class Troubles {
  count = 0;
  readonly examples: string[] = [];

  /** What either has found, which may be the same. */
  static joined(one: Troubles, other: Troubles): Troubles {
    const all = new Troubles();
    const examples = new Set([...one.examples, ...other.examples]);
    all.examples.push(...[...examples].slice(0, EXAMPLES_MAX));
    all.count = Math.max(one.count, other.count, examples.size);
    return all;
  }

  clear(): void {
    this.count = 0;
    this.examples.length = 0;
  }

  add(path: string, reason: string): void {
    this.count += 1;
    if (this.examples.length < EXAMPLES_MAX) {
      this.examples.push(`${JSON.stringify(path)}: ${reason}`);
    }
  }
}

export class Tally {
  /** Znodes that were read at the source. */
  znodes = 0;
  created = 0;
  changed = 0;
  aclsChanged = 0;
  deleted = 0;
  dataBytes = 0;
  /** Ephemerals at the source, which are left out. */
  ephemerals = 0;
  containers = 0;
  ttlZnodes = 0;
  /** Znodes by the schemes of their ACLs whose identities the other ensemble must know, too. */
  readonly schemes = new Map<string, number>();
  /**
   * Znodes whose next sequential child was given, or has to be given, the number that it has at the
   * source.
   */
  readonly sequences = new Troubles();
  /** Children created and deleted to raise sequence numbers without `raiseSequence`. */
  sequenceSteps = 0;
  /** The one that takes a while now. */
  raising: Raising | null = null;
  /** Znodes with the mirror's own entry in their ACL besides, and those that had one. */
  unfinished = 0;
  finished = 0;
  /** Znodes that only the target has and that were not removed. */
  readonly extras = new Troubles();
  /** Znodes in which the last comparison found a difference that may go by itself. */
  readonly unequal = new Troubles();
  /** Znodes that could not be read or written. */
  readonly refused = new Troubles();
  /** Znodes of another kind at the target, or with a sequence number that is too far behind. */
  readonly differing = new Troubles();

  /** Whether the target has everything that can be copied. */
  get isComplete(): boolean {
    return this.extras.count + this.refused.count + this.differing.count === 0;
  }

  /** The number of changes that were made, or would be. */
  get changes(): number {
    return this.created + this.changed + this.aclsChanged + this.deleted;
  }

  onAcl(schemes: Iterable<string>): void {
    for (const scheme of new Set(schemes)) {
      if (scheme !== 'world') this.schemes.set(scheme, (this.schemes.get(scheme) ?? 0) + 1);
    }
  }
}
