/**
 * Election: candidates lead one after the other, each for one term, and announce when they are
 * ready to be followed.
 *
 * **Guarantee.** At most one term has an unaborted signal at a time, provided that processes do not
 * stand still and clocks run at nearly the same rate, and `token` strictly increases from term to
 * term. A candidate that is the first in line need not know that yet. Its acknowledgement shows
 * that it does: the candidate writes it once its procedure for becoming the leader has run, and the
 * server commits it only while the term lasts.
 *
 * **Znodes.** As in the ZooKeeper documentation: `<path>` (a container), with `<guid>-n_<number>`
 * for each candidate, ephemeral, whose data is its id. The lowest number leads, and each other
 * candidate watches the one before it. `<guid>-n_<number>-ack`, ephemeral, is the acknowledgement
 * of that candidate, with data for the followers; it is deleted at the end of the term. Its name is
 * never reused, so it cannot be confused with that of another leader.
 *
 * **Suspended.** The term continues ('hold-until-lost') or ends at once ('abort'). **Lost.** The
 * term and its acknowledgement end; the loop continues in the client's next session.
 */
import { joinPath, nameOf } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import type { Lease, SuspendedPolicy } from '../api/lease.js';
import type { Acl, Data, OperationOptions } from '../api/values.js';
import { onAbort } from '../calls/abort-followers.js';
import { checkCallOptions } from '../calls/call-options.js';
import { acknowledgedLeader, type ElectedLeader, leaderOf } from './shared/acknowledgement.js';
import { ElectionTerm } from './shared/election-term.js';
import { WaitTimeoutError } from './shared/errors.js';
import { type RunOptions, runWithLease } from './shared/run.js';
import type { WaitOptions } from './shared/wait-scope.js';
import { inSession } from './shared/waiting.js';
import {
  acquiring,
  type Line,
  leaseInLine,
  nextBefore,
  type SessionLossOptions,
} from './shared/waiting-line.js';

export type { ElectedLeader } from './shared/acknowledgement.js';

/** A candidate's right to lead, with a way to tell the followers that it does. */
export interface Term extends Lease {
  /** The fencing token. */
  readonly token: bigint;
  /**
   * Tells the followers, with data for them, that the leader is ready. Call it again to change the
   * data. Rejects with the reason of `signal` once the term is over; then no acknowledgement
   * exists.
   */
  acknowledge(data?: Data): Promise<void>;
}

export interface ElectionOptions {
  /** Identifies this candidate to the others; empty by default. */
  readonly id?: string | undefined;
  readonly acl?: readonly Acl[] | undefined;
  readonly onSuspended?: SuspendedPolicy | undefined;
}

export class Election {
  readonly path: string;
  readonly id: string;
  readonly #client: Client;
  readonly #line: Line;
  readonly #options: ElectionOptions;

  constructor(client: Client, path: string, options: ElectionOptions = {}) {
    this.path = path;
    this.id = options.id ?? '';
    this.#client = client;
    this.#options = options;
    this.#line = {
      directory: path,
      markers: ['n_'],
      prefix: (uuid) => `${uuid}-n_`,
      data: this.id,
      acl: options.acl,
      blocker: nextBefore,
    };
  }

  /**
   * Takes part for as long as the loop lasts, and yields each term. When the loop's body has
   * finished, the term is released and the candidate goes to the end of the line. The body must end
   * when `term.signal` is aborted. Aborting the signal of the options aborts the term's signal too
   * and ends the loop. After a lost session the loop continues in the next one. Throws
   * ClientClosedError or an error of the server, such as NoAuthError.
   */
  async *terms(
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<Term, void> {
    checkCallOptions(options);
    const { signal } = options;
    const isAborted = () => signal?.aborted === true;
    while (!isAborted()) {
      const term = await this.#elected(signal);
      if (term === null) return;
      if (isAborted()) {
        // The wait for the term was already over when the signal was aborted, so this throws
        // nothing.
        await term.release();
        return;
      }
      // If the server refuses this release, the one at the end of the loop reports it.
      const resign = () => void term.release().catch(() => {});
      const unfollow = signal === undefined ? () => {} : onAbort(signal, resign);
      try {
        yield term;
      } finally {
        unfollow();
        await term.release();
      }
    }
  }

  /** Runs the function in one term: waits to be elected, calls it, releases the term. */
  async run<T>(
    fn: (term: Term) => T | PromiseLike<T>,
    options: WaitOptions & RunOptions = {},
  ): Promise<T> {
    const term = await this.#waitForTerm(options);
    return await runWithLease(term, () => fn(term), options);
  }

  /**
   * The first candidate in line, and its acknowledgement if it has made one; null without
   * candidates.
   */
  async leader(options: OperationOptions = {}): Promise<ElectedLeader | null> {
    return await leaderOf(this.#client, this.#line, options);
  }

  /**
   * Waits until a leader has acknowledged. Rejects with WaitTimeoutError, OperationAbortedError,
   * ClientClosedError, and with SessionExpiredError unless `onSessionLost` is 'rejoin'.
   */
  async waitForLeader(options: WaitOptions & SessionLossOptions = {}): Promise<ElectedLeader> {
    const timeoutError = () => new WaitTimeoutError(this.path, options.timeoutMs ?? 0);
    return await inSession(this.#client, { ...options, timeoutError }, (within) =>
      acknowledgedLeader(this.#client, this.#line, within),
    );
  }

  async #elected(signal: AbortSignal | undefined): Promise<ElectionTerm | null> {
    try {
      return await this.#waitForTerm({ signal });
    } catch (error) {
      if (signal?.aborted === true) return null;
      throw error;
    }
  }

  async #waitForTerm(options: WaitOptions): Promise<ElectionTerm> {
    const { onSuspended, acl } = this.#options;
    return await acquiring(
      this.#client,
      this.path,
      { ...options, onSessionLost: 'rejoin' },
      async (within) => {
        const lease = await leaseInLine(this.#client, this.#line, within, { onSuspended });
        const ackPath = joinPath(this.path, `${nameOf(lease.path)}-ack`);
        return new ElectionTerm(this.#client, { lease, ackPath, acl, session: within.session });
      },
    );
  }
}
