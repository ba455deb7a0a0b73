/**
 * Bounds the lines of refusals, which a stranger can cause as often as he likes.
 *
 * The first refusal of a session in a second is let through, and of an address where there is no
 * session or it is not known to be the client's. Further ones of that second are counted, and the
 * last of them is told with the number that it stands for when the second is over. No more of them
 * are told apart than KINDS_MAX; the others share a count.
 */
import type { AuditRecord } from '../pipeline/audit.js';

interface Refusals {
  /** The last one that was left out, and the number of those that have no line of their own. */
  readonly last: AuditRecord;
  readonly leftOut: number;
}

const KINDS_MAX = 1000;
const OTHERS = 'others';
const OF_ADDRESSES: ReadonlySet<string> = new Set(['authenticate', 'resumeSession']);

export class RefusalBound {
  readonly #kinds = new Map<string, Refusals | null>();

  get isEmpty(): boolean {
    return this.#kinds.size === 0;
  }

  /** Whether the refusal has a line of its own. */
  admits(record: AuditRecord): boolean {
    const { operation, ip, session } = record;
    // An operator has no session, and a stranger claims one as he likes.
    const isOfAddress = session === 0 || OF_ADDRESSES.has(operation);
    const own = isOfAddress ? `${operation} of ${ip}` : `session ${session}`;
    const isKnown = this.#kinds.has(own);
    if (!isKnown && this.#kinds.size < KINDS_MAX) {
      this.#kinds.set(own, null);
      return true;
    }
    const kind = isKnown ? own : OTHERS;
    const { leftOut = 0 } = this.#kinds.get(kind) ?? {};
    this.#kinds.set(kind, { last: record, leftOut: leftOut + 1 });
    return false;
  }

  /** The second is over. */
  take(): readonly Refusals[] {
    const all = [...this.#kinds.values()].filter((one) => one !== null);
    this.#kinds.clear();
    return all;
  }
}
