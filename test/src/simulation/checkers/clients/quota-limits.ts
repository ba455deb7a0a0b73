/**
 * Property: no create is acknowledged that a hard limit of a quota forbade. Source: ZooKeeper's
 * quotas with `enforceQuota`; ZOOKEEPER-3301.
 *
 * As in ZooKeeper, what is in flight does not count yet. But whatever a client has seen before it
 * asks is applied at the leader that decides, so one of the states from there on, up to the create,
 * must have had room for it. It looks at znodes directly below a path with one segment, and only
 * where the quota has not changed in between.
 */
import { ErrorCode, formatZxid } from '@rookery/protocol';
import { PropertyBroken } from '../../contract/checker.js';
import type { Invocation, Reply, SessionSeen } from '../../contract/history.js';
import type { CommittedTree } from './committed-tree.js';
import { asked, type NewPart, type Part } from './part.js';

class QuotaLimits implements Part {
  readonly property = 'no create is acknowledged that a hard limit of a quota forbade';
  readonly #tree: CommittedTree;
  /** By session: the newest zxid of its answers. */
  readonly #seen = new Map<number, number>();
  /** By the order of a create that is not answered: what its session had seen. */
  readonly #asked = new Map<number, number>();
  /** By session: the orders of those. */
  readonly #open = new Map<number, Set<number>>();

  constructor(tree: CommittedTree) {
    this.#tree = tree;
  }

  onInvocation({ operation, session, order }: Invocation): void {
    if (operation.kind !== 'create' || limitOf(operation.path) === null) return;
    this.#asked.set(order, this.#seen.get(session) ?? session);
    const open = this.#open.get(session) ?? new Set();
    this.#open.set(session, open.add(order));
  }

  onReply(reply: Reply): void {
    const { invocation, result } = reply;
    const { operation, session, order } = invocation;
    this.#seen.set(session, result.zxid);
    const seen = this.#asked.get(order);
    if (seen === undefined || operation.kind !== 'create') return;
    this.#asked.delete(order);
    this.#open.get(session)?.delete(order);
    if (result.error !== ErrorCode.ok || seen < this.#tree.floorZxid) return;
    const least = this.#leastBetween(operation.path, seen, result.zxid - 1);
    if (least === null || least.count < least.limit) return;
    const { count, limit } = least;
    const where = `${asked(invocation)}, was done at ${formatZxid(result.zxid)} [${reply.order}]`;
    const what = `there were ${count} or more since ${formatZxid(seen)}, of at most ${limit}`;
    throw new PropertyBroken(this.property, `${where}: ${what}`);
  }

  onSession({ change, session }: SessionSeen): void {
    if (change !== 'expired' && change !== 'closed') return;
    for (const order of this.#open.get(session) ?? []) this.#asked.delete(order);
    this.#open.delete(session);
    this.#seen.delete(session);
  }

  /** The least number of znodes, with the parent, and the limit; null if there was none. */
  #leastBetween(path: string, from: number, to: number) {
    const rules = this.#tree.known(limitOf(path) ?? '');
    const parent = this.#tree.known(parentIn(path));
    const before = rules?.at(from);
    if (before?.exists !== true || rules?.at(to) !== before) return null;
    const limit = Number(/;countHardLimit=(\d+);/.exec(before.data ?? '')?.[1] ?? -1);
    const first = parent?.at(from);
    if (limit < 0 || parent === undefined || first?.exists !== true) return null;
    const later = parent.since(from).filter(({ zxid }) => zxid <= to);
    const count = Math.min(...[first, ...later].map(({ childCount }) => 1 + childCount));
    return { count, limit };
  }
}

function parentIn(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

/** Where the limits of its parent are; null for what has no parent with one segment. */
function limitOf(path: string): string | null {
  const parent = parentIn(path);
  if (parent.lastIndexOf('/') !== 0) return null;
  return `/zookeeper/quota${parent}/zookeeper_limits`;
}

export const newQuotaLimits: NewPart = (tree) => new QuotaLimits(tree);
