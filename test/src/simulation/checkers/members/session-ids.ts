/**
 * Property: a session's id is the zxid of its creation, and nothing is done in it after its end.
 * Source: docs/architecture/sessions.md; ZOOKEEPER-1367, 1208.
 *
 * A refused request (an error transaction) may name a session that has ended; a change may not.
 */
import type { Zxid } from '@rookery/protocol';
import type { Checker, NewChecker } from '../../contract/checker.js';
import type { Applied } from '../../contract/observation.js';
import { broken, formatZxid } from './model/failure.js';

class SessionIds implements Checker {
  readonly property =
    "a session's id is the zxid of its creation, and nothing is done in it after its end";
  /** The sessions that are open at the newest zxid applied anywhere. */
  readonly #open = new Set<number>();
  #newest: Zxid = 0;

  onApplied(seen: Applied): void {
    const { zxid, txn, state } = seen;
    if (txn.op.kind === 'createSession') {
      if (!state.sessions.has(zxid) || txn.session !== 0) {
        throw broken(this.property, seen, `opened ${formatZxid(zxid)}, but not under that id`);
      }
    }
    if (zxid <= this.#newest) return;
    this.#newest = zxid;
    if (txn.op.kind === 'createSession') {
      this.#open.add(zxid);
      return;
    }
    if (txn.session === 0 || txn.op.kind === 'error') return;
    if (!this.#open.has(txn.session)) {
      const session = formatZxid(txn.session);
      const what = `applied ${formatZxid(zxid)} (${txn.op.kind}) of session ${session}, not open`;
      throw broken(this.property, seen, what);
    }
    if (txn.op.kind === 'closeSession') this.#open.delete(txn.session);
  }
}

export const newSessionIds: NewChecker = () => new SessionIds();
