/**
 * Property: a member without a quorum shows one state of the past, and refuses everything else.
 * Source: docs/architecture/sessions.md on read-only mode; ZOOKEEPER-784.
 *
 * All reads on one connection are of one zxid, which somebody has applied, and show the state at
 * it. A client is never shown an older one than before. Writes and syncs are answered -119.
 */
import { ErrorCode, formatZxid } from '@rookery/protocol';
import { PropertyBroken } from '../../contract/checker.js';
import type { ReadOnlySeen } from '../../contract/history.js';
import type { CommittedTree } from './committed-tree.js';
import { isWrite, type NewPart, type Part } from './part.js';
import { shownDifference } from './shown-state.js';

/** No session of the ensemble has this id, so it owns nothing. */
const NOBODY = { session: -1 };

class ReadOnly implements Part {
  readonly property = 'a member without a quorum shows one state, and refuses all else';
  readonly #tree: CommittedTree;
  /** By client: the connection on which it was answered last, and at which zxid. */
  readonly #clients = new Map<number, { readonly connection: number; readonly zxid: number }>();

  constructor(tree: CommittedTree) {
    this.#tree = tree;
  }

  onReadOnly(seen: ReadOnlySeen): void {
    const { client, connection, operation, result } = seen;
    const { zxid, error } = result;
    const before = this.#clients.get(client);
    this.#clients.set(client, { connection, zxid });
    if (before !== undefined) {
      const moved = before.connection === connection ? zxid !== before.zxid : zxid < before.zxid;
      if (moved) this.#fail(seen, `behind an answer at ${formatZxid(before.zxid)}`);
    }
    if (isWrite(operation) || operation.kind === 'sync') {
      if (error !== ErrorCode.notReadOnly) this.#fail(seen, `with ${error}, not refused`);
      return;
    }
    if (zxid > this.#tree.lastZxid) this.#fail(seen, 'which nobody has applied');
    if (zxid < this.#tree.floorZxid) return;
    const difference = shownDifference(this.#tree, operation, result, NOBODY);
    if (difference !== null) this.#fail(seen, difference);
  }

  #fail({ client, member, operation, result, order }: ReadOnlySeen, what: string): never {
    const where = `member ${member} answered ${operation.kind} of reader ${client}`;
    const when = `at ${formatZxid(result.zxid)} [${order}]`;
    throw new PropertyBroken(this.property, `${where} ${when}: ${what}`);
  }
}

export const newReadOnly: NewPart = (tree) => new ReadOnly(tree);
