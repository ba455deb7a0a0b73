/**
 * Property: a read shows exactly the state at the zxid that its reply names. Source:
 * docs/architecture/core.md, invariants 6 and 8; ZOOKEEPER-2678, 2355, 3642: members whose tree is
 * not what was committed.
 *
 * This is the strongest property: every read is compared with the replay of the committed
 * transactions: its data, every returned part of the Stat and the set of children. All reads of a
 * multiRead are of the one zxid that its reply names, and a list of ephemerals has all those of the
 * session that asks, and no others. Whoever may not read a znode is shown nothing of it but that it
 * exists.
 */
import { ErrorCode, formatZxid, Perms } from '@rookery/protocol';
import { PropertyBroken } from '../../contract/checker.js';
import { permits, textOfAcl } from '../../contract/grants.js';
import type {
  Invocation,
  Operation,
  ReadPart,
  ReadResult,
  Reply,
  Result,
} from '../../contract/history.js';
import type { CommittedTree } from './committed-tree.js';
import { hashOf, type NodeState } from './node-state.js';
import { asked, type NewPart, type Part } from './part.js';
import { statDifference } from './stat-of.js';

/** The session that asks, and as whom its connection is known; nobody by default. */
type Asker = Pick<Invocation, 'session' | 'users'>;
type Shows = 'get' | 'exists' | 'children';

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
    const difference = shownDifference(this.#tree, operation, result, invocation);
    if (difference !== null) this.#fail(reply, difference);
  }

  #fail({ invocation, result, order }: Reply, what: string): never {
    const where = `${asked(invocation)}, was answered at ${formatZxid(result.zxid)} [${order}]`;
    throw new PropertyBroken(this.property, `${where}: ${what}`);
  }
}

interface Shown {
  readonly result: ReadResult;
  readonly zxid: number;
  readonly asker: Asker;
}

/** How the answer differs from the state at its zxid, in words; null if it does not. */
export function shownDifference(
  tree: CommittedTree,
  operation: Operation,
  result: Result,
  asker: Asker,
): string | null {
  const { error, zxid } = result;
  switch (operation.kind) {
    case 'get':
    case 'exists':
    case 'children':
      return readDifference(tree, operation, { result, zxid, asker });
    case 'multiRead':
      return error === ErrorCode.ok
        ? readsDifference(tree, operation.reads, { result, asker })
        : `error ${error}`;
    case 'ephemerals': {
      if (error !== ErrorCode.ok) return `error ${error}`;
      const owned = tree.ephemeralsAt(asker.session, zxid);
      const begins = owned.filter((path) => path.startsWith(operation.path));
      const told = [...(result.children ?? [])].sort().join(' ');
      const had = begins.sort().join(' ');
      return told === had ? null : `its ephemerals are [${told}], they were [${had}]`;
    }
    case 'ping':
    case 'sync':
    case 'addWatch':
      return error === ErrorCode.ok ? null : `error ${error}`;
    default:
      return null;
  }
}

function readsDifference(
  tree: CommittedTree,
  reads: readonly ReadPart[],
  { result, asker }: { readonly result: Result; readonly asker: Asker },
): string | null {
  const { reads: told = [], zxid } = result;
  if (told.length !== reads.length) return `${told.length} reads were answered`;
  for (const [at, read] of reads.entries()) {
    const answer = told[at];
    if (answer === undefined) continue;
    const difference = readDifference(tree, read, { result: answer, zxid, asker });
    if (difference !== null) return `read ${at}, ${read.kind} ${read.path}: ${difference}`;
  }
  return null;
}

function readDifference(
  tree: CommittedTree,
  { kind, path }: { readonly kind: Shows; readonly path: string },
  { result, zxid, asker }: Shown,
): string | null {
  const { error } = result;
  const state = tree.known(path)?.at(zxid);
  if (state?.exists !== true) {
    return error === ErrorCode.noNode ? null : 'where the znode did not exist';
  }
  if (!permits(state.acl, asker.users ?? [], Perms.read)) {
    return error === ErrorCode.noAuth ? null : `${error}, where ${textOfAcl(state.acl)} may read`;
  }
  if (error !== ErrorCode.ok) {
    return `where it existed since ${formatZxid(state.czxid)}: ${error}`;
  }
  return contentDifference(kind, result, state);
}

function contentDifference(
  kind: Shows,
  { stat, data, children }: ReadResult,
  state: NodeState,
): string | null {
  // The children of a multiRead come without a Stat.
  if (stat === null && (kind !== 'children' || children === null)) return 'it has no Stat';
  const difference = stat === null ? null : statDifference(stat, state);
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
