/**
 * Property: the statistics of each quota are the znodes and bytes that are below its path, on each
 * member and at each zxid. Source: ZooKeeper's quotas; ZOOKEEPER-1151, 3301.
 *
 * It walks what is below each path that has a quota, after each transaction, and compares with the
 * znode of the statistics. It knows quotas of paths with one segment, which are all that clients
 * make.
 */
import type { ReplicatedState } from '../../../simulated.js';
import type { Checker, NewChecker } from '../../contract/checker.js';
import type { Applied } from '../../contract/observation.js';
import { broken, formatZxid } from './model/failure.js';

const QUOTAS = '/zookeeper/quota';

class QuotasChecker implements Checker {
  readonly property = 'the statistics of a quota are what is below its path';

  onApplied(seen: Applied): void {
    const { state, zxid } = seen;
    const { tree } = state;
    tree.visitChildren(tree.find(QUOTAS), (child) => {
      const path = `/${tree.name(child)}`;
      const limits = tree.find(`${QUOTAS}${path}/zookeeper_limits`);
      const stats = tree.find(`${QUOTAS}${path}/zookeeper_stats`);
      if (limits < 0 || stats < 0) return true;
      const told = Buffer.from(tree.data(stats) ?? []).toString();
      const there = sizeBelow(state, path);
      if (told === there) return true;
      const at = formatZxid(zxid);
      throw broken(this.property, seen, `has ${there} in ${path} at ${at}, and says ${told}`);
    });
  }
}

/** With the znode of the path itself, if it exists. */
function sizeBelow({ tree }: ReplicatedState, path: string): string {
  const top = tree.find(path);
  let [count, bytes] = [0, 0];
  const todo = top < 0 ? [] : [top];
  for (let node = todo.pop(); node !== undefined; node = todo.pop()) {
    count += 1;
    bytes += tree.data(node)?.length ?? 0;
    tree.visitChildren(node, (child) => {
      todo.push(child);
      return true;
    });
  }
  return `count=${count},bytes=${bytes}`;
}

export const newQuotas: NewChecker = () => new QuotasChecker();
