/**
 * The leader's ends of sessions: at once, or in parts so that others are served in between.
 *
 * A session may own a million ephemerals, and deleting them in one transaction would keep every
 * member from everything else for seconds. A close therefore deletes a few hundred at most. A
 * session that has more gets a beginClose, and so does one whose ephemerals would exceed the bound
 * on the deletes in flight. From then on nobody resumes it and it does nothing more; transactions
 * delete its ephemerals, a part each, and its close comes last.
 *
 * The next leader finds in the state which sessions are closing, and continues. Sessions are served
 * round-robin, and the deletes in flight are bounded: the next part is prepared when an earlier one
 * is applied. RequestPreparer calls it.
 */
import { Fifo, type Zxid } from '@rookery/protocol';
import type { ReplicatedState } from '../state/replicated-state.js';
import type { SessionId } from '../state/txn.js';
import type { SessionEnd, TxnPreparer } from './prepare.js';

/** The ephemerals that one transaction deletes for the end of a session: one or two ms. */
export const EPHEMERALS_PER_PART_MAX = 256;
/** The characters of the paths that it deletes, except for a single path that has more. */
const PATHS_MAX = 32 << 10;
/** Parts that may be proposed and not applied yet: one is decided while another one is applied. */
const PARTS_IN_FLIGHT = 2;

export interface SessionEndsOptions {
  readonly ephemeralsPerPartMax: number;
}

interface Part {
  readonly zxid: Zxid;
  readonly deletes: number;
}

export class SessionEnds {
  readonly #state: ReplicatedState;
  readonly #prepare: TxnPreparer;
  readonly #partMax: number;
  /** Sessions whose end is decided, the one that has waited longest first. */
  readonly #waiting = new Fifo<SessionEnd>();
  /** In the order of their zxids. */
  readonly #inFlight = new Fifo<Part>();
  #deletesInFlight = 0;

  /** Continues with sessions that an earlier leader has left closing; nobody waits for them. */
  constructor(
    state: ReplicatedState,
    prepare: TxnPreparer,
    { ephemeralsPerPartMax }: SessionEndsOptions,
  ) {
    this.#state = state;
    this.#prepare = prepare;
    this.#partMax = ephemeralsPerPartMax;
    for (const session of prepare.overlay.sessions.closing()) {
      this.#waiting.push({ session, origin: 0, request: 0 });
    }
  }

  /** The number of sessions that have a beginClose and whose closeSession is not prepared yet. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Ends a live session: prepares its closeSession, or a beginClose if its ephemerals are too many
   * for one transaction now. Either of them decides the end.
   */
  end(asked: SessionEnd, wallMs: number): void {
    const owned = this.#prepare.overlay.ephemeralsOwned(asked.session);
    if (!this.#mayDelete(owned)) {
      this.#waiting.push(asked);
      return this.#prepare.prepareBeginClose(asked, wallMs);
    }
    this.#close(asked, wallMs, owned);
  }

  /**
   * Prepares the next part of an end. Returns false while nothing is to be done, or enough is in
   * flight.
   */
  next(wallMs: number): boolean {
    for (let sessions = this.#waiting.length; sessions > 0; sessions--) {
      const asked = this.#waiting.first;
      if (asked === undefined) return false;
      const owned = this.#prepare.overlay.ephemeralsOwned(asked.session);
      if (!this.#mayDelete(Math.min(owned, this.#partMax))) return false;
      this.#waiting.shift();
      if (owned <= this.#partMax) {
        this.#close(asked, wallMs, owned);
        return true;
      }
      this.#waiting.push(asked);
      const paths = this.#pathsToDelete(asked.session);
      // The remaining ones are being created: they are deleted once that is applied.
      if (paths.length > 0) {
        this.#prepare.prepareDeletes(paths, wallMs);
        this.#track(paths.length);
        return true;
      }
    }
    return false;
  }

  applied(zxid: Zxid): void {
    const part = this.#inFlight.first;
    if (part?.zxid !== zxid) return;
    this.#inFlight.shift();
    this.#deletesInFlight -= part.deletes;
  }

  #mayDelete(count: number): boolean {
    return (
      count <= this.#partMax && this.#deletesInFlight + count <= PARTS_IN_FLIGHT * this.#partMax
    );
  }

  #close(asked: SessionEnd, wallMs: number, owned: number): void {
    this.#prepare.prepareClose(asked, wallMs);
    this.#track(owned);
  }

  /** The transaction that was prepared last deletes that many znodes. */
  #track(deletes: number): void {
    if (deletes === 0) return;
    this.#inFlight.push({ zxid: this.#prepare.zxids.last, deletes });
    this.#deletesInFlight += deletes;
  }

  /** The ephemerals in the tree that nothing in flight deletes. */
  #pathsToDelete(session: SessionId): readonly string[] {
    const { overlay } = this.#prepare;
    const { tree } = this.#state;
    const paths: string[] = [];
    let left = PATHS_MAX;
    tree.visitEphemerals(session, (node) => {
      const path = tree.path(node);
      if (overlay.ownerOf(path) !== session) return true;
      left -= path.length;
      paths.push(path);
      return paths.length < this.#partMax && left > 0;
    });
    return paths;
  }
}
