/**
 * Property: no acknowledged write is lost, no refused one is applied, and each is applied at most
 * once. Source: ZOOKEEPER-3023, 4643, 4646, 3642, 2845 (lost), 1154 (applied after all); Zab's
 * integrity.
 *
 * The answer to a write names the transaction that performed it, so that transaction must be what
 * was requested. A session's transactions are a subsequence of its requests in the order in which
 * they were sent: each is matched with the first request that it can belong to, which settles all
 * earlier ones. A sync does so, too: what its session sent before, also over a lost connection, is
 * done by then or never. No member skips what another has applied, and at the end every member's
 * tree equals the replay of all transactions.
 */
import { ErrorCode, formatZxid } from '@rookery/protocol';
import type { ReplicatedState, TxnOp } from '../../../simulated.js';
import { PropertyBroken } from '../../contract/checker.js';
import { isSameAcl, textOfAcl } from '../../contract/grants.js';
import type { Invocation, PartResult, Reply } from '../../contract/history.js';
import type { Applied, End } from '../../contract/observation.js';
import { type Commit, type CommittedTree, textOf } from './committed-tree.js';
import { isDoneBy, isOfRequest } from './done-by.js';
import { asked, isWrite, type NewPart, type Part, type Write } from './part.js';
import { differenceOf } from './stat-of.js';

interface Sent {
  readonly invocation: Invocation;
  readonly write: Write;
}

interface Place {
  state: ReplicatedState | null;
  zxid: number;
}

class Acknowledged implements Part {
  readonly property = 'no acknowledged write is lost and no refused one applied';
  readonly #tree: CommittedTree;
  /** By session: the requests that may still be applied, in the order in which they were sent. */
  readonly #sent = new Map<number, Sent[]>();
  readonly #places = new Map<number, Place>();

  constructor(tree: CommittedTree) {
    this.#tree = tree;
  }

  onInvocation(invocation: Invocation): void {
    const { operation, session } = invocation;
    if (!isWrite(operation)) return;
    let sent = this.#sent.get(session);
    if (sent === undefined) {
      sent = [];
      this.#sent.set(session, sent);
    }
    sent.push({ invocation, write: operation });
  }

  onCommit({ zxid, session, txn }: Commit): void {
    const { op } = txn;
    if (op.kind === 'closeSession') this.#sent.delete(session);
    if (session === 0 || !isOfRequest(op)) return;
    const sent = this.#sent.get(session) ?? [];
    const index = sent.findIndex(({ write }) => isDoneBy(write, op));
    if (index < 0) {
      const who = `session ${formatZxid(session)} had not asked for, or not once more`;
      this.#fail(`transaction ${formatZxid(zxid)} is a ${op.kind} that ${who}`);
    }
    sent.splice(0, index + 1);
  }

  onReply({ invocation, result, order }: Reply): void {
    const { operation, session } = invocation;
    if (operation.kind === 'sync' && result.error === ErrorCode.ok) this.#settle(invocation);
    if (!isWrite(operation)) return;
    this.#settle(invocation);
    const { zxid, error } = result;
    if (zxid < this.#tree.floorZxid) return;
    const commit = this.#tree.commitAt(zxid);
    const answer = `${asked(invocation)}, was answered ${error} at ${formatZxid(zxid)} [${order}]`;
    if (commit === undefined) this.#fail(`${answer}, which nobody has applied`);
    if (commit.session !== session) {
      this.#fail(`${answer}, a transaction of session ${formatZxid(commit.session)}`);
    }
    const { op } = commit.txn;
    if (error !== 0) {
      if (op.kind !== 'error') this.#fail(`${answer}, where a ${op.kind} was done`);
      const expected = codesOf(op, result.parts);
      if (op.code !== error || expected !== null) {
        this.#fail(`${answer}, but its error is ${expected ?? op.code}`);
      }
      return;
    }
    if (!isDoneBy(operation, op)) this.#fail(`${answer}, where another ${op.kind} was done`);
    const difference = differenceOf(operation, result, commit);
    if (difference !== null) this.#fail(`${answer}: ${difference}`);
  }

  onApplied(seen: Applied): void {
    const { member, zxid, state, txn } = seen;
    let place = this.#places.get(member);
    if (place === undefined) {
      place = { state: null, zxid: 0 };
      this.#places.set(member, place);
    }
    const isSameRun = place.state === state;
    place.state = state;
    const behind = place.zxid;
    place.zxid = zxid;
    if (isSameRun && behind !== zxid - 1) this.#mustFollow(seen, behind);
    const first = this.#tree.commitAt(zxid);
    if (first === undefined) {
      if (zxid >= this.#tree.floorZxid) this.#fail(`${applies(seen)}, which others went past`);
    } else if (first.session !== txn.session || first.txn.request !== txn.request) {
      this.#fail(`${applies(seen)}, but a ${txn.op.kind} where others did a ${first.txn.op.kind}`);
    }
  }

  onEnd({ members }: End): void {
    for (const { member, state, applied } of members) {
      if (applied !== this.#tree.lastZxid) {
        const last = formatZxid(this.#tree.lastZxid);
        this.#fail(`at the end member ${member} is at ${formatZxid(applied)}, not at ${last}`);
      }
      const difference = this.#differenceTo(state);
      if (difference !== null) this.#fail(`at the end member ${member} ${difference}`);
    }
  }

  #mustFollow(seen: Applied, behind: number): void {
    const before = this.#tree.zxidBefore(seen.zxid);
    if (behind === before || before <= this.#tree.floorZxid) return;
    this.#fail(`${applies(seen)} behind ${formatZxid(behind)}, and never ${formatZxid(before)}`);
  }

  /** Returns everything that its session sent before it, and itself. */
  #settle({ session, order }: Invocation): void {
    const sent = this.#sent.get(session);
    if (sent === undefined) return;
    let count = 0;
    while ((sent[count]?.invocation.order ?? Infinity) <= order) count += 1;
    if (count > 0) sent.splice(0, count);
  }

  #differenceTo({ tree, sessions }: ReplicatedState): string | null {
    let count = 0;
    for (const { path, last } of this.#tree.paths()) {
      const node = tree.find(path);
      if (!last.exists) {
        if (node >= 0) return `has ${path}, which was deleted at ${formatZxid(last.zxid)}`;
        continue;
      }
      count += 1;
      if (node < 0) return `has no ${path}, created at ${formatZxid(last.czxid)}`;
      if (path === '/zookeeper/config') continue;
      const { mzxid, version, aversion } = tree.stat(node);
      if (aversion !== last.aversion)
        return `shows ACL ${aversion} of ${path}, not ${last.aversion}`;
      const data = textOf(tree.data(node));
      const acl = tree.acl(node);
      if (!isSameAcl(acl, last.acl))
        return `permits ${textOfAcl(acl)} to do something with ${path}`;
      const isBlank = path === '/' || path.startsWith('/zookeeper');
      if (mzxid !== last.mzxid || version !== last.version || (data !== last.data && !isBlank)) {
        return `shows ${path} as of ${mzxid}, version ${version}, not of ${last.mzxid}`;
      }
    }
    if (tree.nodeCount !== count) return `has ${tree.nodeCount} znodes, not ${count}`;
    const open = this.#tree.sessions.size;
    return sessions.count === open ? null : `has ${sessions.count} sessions, not ${open}`;
  }

  #fail(what: string): never {
    throw new PropertyBroken(this.property, what);
  }
}

function applies({ member, incarnation, zxid, order }: Applied): string {
  return `member ${member}.${incarnation} applies ${formatZxid(zxid)} [${order}]`;
}

/** Returns the codes of a refused multi if they are not those that the client received. */
function codesOf(
  op: TxnOp & { readonly kind: 'error' },
  parts: readonly PartResult[] | null,
): string | null {
  const codes = op.codes ?? [];
  const told = parts ?? [];
  const isEqual =
    codes.length === told.length && codes.every((code, index) => code === told[index]?.error);
  return isEqual ? null : codes.join(' ');
}

export const newAcknowledged: NewPart = (tree) => new Acknowledged(tree);
