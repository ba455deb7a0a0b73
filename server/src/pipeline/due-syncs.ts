/**
 * Syncs that the leader has confirmed and whose zxid this member has not applied yet. Used by
 * Requests.
 */
import type { Zxid } from '@rookery/protocol';
import type { Connection } from './connection.js';

const NONE: readonly Connection[] = [];

export class DueSyncs {
  /** In the order of their zxids, which never fall. */
  #due: { readonly zxid: Zxid; readonly connection: Connection }[] = [];

  add(zxid: Zxid, connection: Connection): void {
    this.#due.push({ zxid, connection });
  }

  /** Removes those that may be answered once `zxid` is applied; their connections may be gone. */
  takeUpTo(zxid: Zxid): readonly Connection[] {
    const [first] = this.#due;
    if (first === undefined || first.zxid > zxid) return NONE;
    let count = this.#due.findIndex((due) => due.zxid > zxid);
    if (count < 0) count = this.#due.length;
    return this.#due.splice(0, count).map((due) => due.connection);
  }

  clear(): void {
    this.#due = [];
  }
}
