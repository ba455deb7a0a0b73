/**
 * Counts, for each parent, the children that transactions in flight create and delete: what the
 * applied tree's count of children lacks.
 *
 * Each change is counted from its prepare until it is applied or undone, so the sum of the tree's
 * number and this one is the same whenever it is asked for. It is kept for each owner of ephemerals
 * too, because those of a session that is being closed must be subtracted. Called by Overlay.
 */
import { assert } from '@rookery/protocol';
import type { SessionId } from '../state/txn.js';

/** One child of `parent` more or less; `owner` is the session of an ephemeral, otherwise 0. */
export interface ChildChange {
  readonly parent: string;
  readonly by: 1 | -1;
  readonly owner: SessionId;
}

interface Below {
  /** The number of changes in flight; the entry is removed with the last of them. */
  changes: number;
  net: number;
  /** The part of `net` that is the ephemerals of a session; sessions with 0 are left out. */
  netOf: Map<SessionId, number> | null;
}

export class OverlayChildren {
  readonly #below = new Map<string, Below>();
  /**
   * For each session, the ephemerals that are created less those that are deleted; without those
   * with 0.
   */
  readonly #netOf = new Map<SessionId, number>();

  get size(): number {
    return this.#below.size;
  }

  /** The change is in flight from now on. */
  add({ parent, by, owner }: ChildChange): void {
    let below = this.#below.get(parent);
    if (below === undefined) {
      below = { changes: 0, net: 0, netOf: null };
      this.#below.set(parent, below);
    }
    below.changes += 1;
    count(below, owner, by);
    if (owner !== 0) addTo(this.#netOf, owner, by);
  }

  /** The change is applied, or undone. */
  remove({ parent, by, owner }: ChildChange): void {
    const below = this.#below.get(parent);
    assert(below !== undefined, () => `a child of ${parent} was changed in flight`);
    below.changes -= 1;
    const back = by === 1 ? -1 : 1;
    count(below, owner, back);
    if (owner !== 0) addTo(this.#netOf, owner, back);
    if (below.changes > 0) return;
    assert(below.net === 0, () => `${below.net} children of ${parent} are left over`);
    this.#below.delete(parent);
  }

  net(parent: string): number {
    return this.#below.get(parent)?.net ?? 0;
  }

  /** What the session's ephemerals in flight add to those in the tree. */
  netOf(session: SessionId): number {
    return this.#netOf.get(session) ?? 0;
  }

  /** The ephemerals below `parent` whose session is one of these. */
  netOwnedBy(parent: string, sessions: ReadonlySet<SessionId>): number {
    const netOf = this.#below.get(parent)?.netOf ?? null;
    if (netOf === null) return 0;
    let sum = 0;
    for (const [owner, net] of netOf) if (sessions.has(owner)) sum += net;
    return sum;
  }
}

function count(below: Below, owner: SessionId, by: 1 | -1): void {
  below.net += by;
  if (owner === 0) return;
  below.netOf ??= new Map();
  addTo(below.netOf, owner, by);
}

function addTo(nets: Map<SessionId, number>, owner: SessionId, by: 1 | -1): void {
  const net = (nets.get(owner) ?? 0) + by;
  if (net === 0) nets.delete(owner);
  else nets.set(owner, net);
}
