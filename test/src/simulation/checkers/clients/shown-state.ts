/**
 * Property: a read shows exactly the state at the zxid that its reply names. Source:
 * docs/architecture/core.md, invariants 6 and 8; ZOOKEEPER-2678, 2355, 3642: members whose tree is
 * not what was committed.
 *
 * This is the strongest property: every read is compared with the replay of the committed
 * transactions: its data, every returned part of the Stat and the set of children.
 */
import { ErrorCode, formatZxid } from '@rookery/protocol';
import { PropertyBroken } from '../../contract/checker.js';
import type { Reply, Result } from '../../contract/history.js';
import type { CommittedTree } from './committed-tree.js';
import { hashOf, type NodeState } from './node-state.js';
import { asked, type NewPart, type Part } from './part.js';
import { statDifference } from './stat-of.js';

class ShownState implements Part {
  readonly property = 'a read shows the state at the zxid of its reply';
  readonly #tree: CommittedTree;

  constructor(tree: CommittedTree) {
    this.#tree = tree;
  }

  onReply(reply: Reply): void {
    const { invocation, result } = reply;
    const { operation } = invocation;
    const { zxid } = result;
    if (zxid > this.#tree.lastZxid) this.#fail(reply, 'which nobody has applied');
    if (zxid < this.#tree.floorZxid) return;
    const { kind } = operation;
    if (kind !== 'get' && kind !== 'exists' && kind !== 'children') {
      const mayFail = kind !== 'ping' && kind !== 'sync' && kind !== 'addWatch';
      if (result.error !== ErrorCode.ok && !mayFail) this.#fail(reply, `error ${result.error}`);
      return;
    }
    const state = this.#tree.known(operation.path)?.at(zxid);
    if (state?.exists !== true) {
      if (result.error !== ErrorCode.noNode) this.#fail(reply, 'where the znode did not exist');
      return;
    }
    if (result.error !== ErrorCode.ok) {
      this.#fail(reply, `where it existed since ${formatZxid(state.czxid)}: ${result.error}`);
    }
    const difference = contentDifference(kind, result, state);
    if (difference !== null) this.#fail(reply, difference);
  }

  #fail({ invocation, result, order }: Reply, what: string): never {
    const where = `${asked(invocation)}, was answered at ${formatZxid(result.zxid)} [${order}]`;
    throw new PropertyBroken(this.property, `${where}: ${what}`);
  }
}

function contentDifference(
  kind: 'get' | 'exists' | 'children',
  result: Result,
  state: NodeState,
): string | null {
  const { stat, data, children } = result;
  if (stat === null) return 'it has no Stat';
  const difference = statDifference(stat, state);
  if (difference !== null) return difference;
  if (kind === 'get' && data !== state.data && !isSystemPath(state.of.path)) {
    return `the data are ${data}, they were ${state.data}`;
  }
  if (kind !== 'children') return null;
  return childrenDifference(children ?? [], state);
}

function childrenDifference(children: readonly string[], state: NodeState): string | null {
  let hash = 0;
  for (let at = 0; at < children.length; at++) hash += hashOf(children[at] ?? '');
  if (children.length === state.childCount && hash % 2 ** 32 === state.childHash) return null;
  return `${children.length} children are not the ${state.childCount} it had: ${children.join(' ')}`;
}

/** Their data are not in any transaction. */
function isSystemPath(path: string): boolean {
  return path === '/' || path.startsWith('/zookeeper');
}

export const newShownState: NewPart = (tree) => new ShownState(tree);
