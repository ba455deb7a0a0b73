/**
 * Election: candidates lead in turns, each for one term, and say when they are ready to be
 * followed.
 *
 * **Guarantee.** At most one term with an unaborted signal at a time, as long as clocks run at
 * nearly the same rate; `token` grows strictly from term to term. That a candidate is the first in
 * line does not tell that it knows: only its acknowledgement does, which it makes when its leader's
 * procedure has run, and which is committed only while its term lasts.
 *
 * **Znodes.** As in the ZooKeeper documentation: `<path>` (a container), `<guid>-n_<number>` for
 * each candidate, ephemeral, data its id; the lowest leads, each other watches the one before it.
 * `<guid>-n_<number>-ack`, ephemeral, is the acknowledgement of that candidate, with data for the
 * followers; it goes with the term. Its name never comes back, so no leader can find, and no
 * deletion can hit, another's.
 *
 * **Suspended.** The term stands ('hold-until-lost') or ends at once ('abort'). **Lost.** The term
 * ends, acknowledgement and all; the loop goes on in the client's next session.
 */
import { joinPath, nameOf } from '@rookery/protocol';
import { onAbort } from '../abort-followers.js';
import type { Client } from '../api/client.js';
import type { Lease, SuspendedPolicy } from '../api/lease.js';
import type { Acl, Data, OperationOptions } from '../api/values.js';
import { checkCallOptions } from '../call-options.js';
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
   * Tells the followers, with data for them, that the leader's procedure has run; again, to change
   * the data. Rejects with the reason of `signal` once the term is over: then nobody was told, or
   * what was told is taken back.
   */
  acknowledge(data?: Data): Promise<void>;
}

export interface ElectionOptions {
  /** Tells this candidate to the others; empty by default. */
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
   * A candidate for as long as the loop lasts. The term is the body's: when the body is done the
   * term is given up, and the candidate goes to the end of the line. The body ends itself when
   * `term.signal` is aborted; that of the options aborts it as well and ends the loop. Lost
   * sessions are waited out. Throws ClientClosedError or the server's answer, such as NoAuthError.
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
        // The abort came after the wait for the term had ended and is not reported a second time.
        await term.release();
        return;
      }
      // The loop's own release tells, should the server refuse it.
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

  /** One term: waits to be elected, runs the function, gives the term up. */
  async run<T>(
    fn: (term: Term) => T | PromiseLike<T>,
    options: WaitOptions & RunOptions = {},
  ): Promise<T> {
    const term = await this.#waitForTerm(options);
    return await runWithLease(term, () => fn(term), options);
  }

  /** The first in line, and its acknowledgement if it has made one; null without candidates. */
  async leader(options: OperationOptions = {}): Promise<ElectedLeader | null> {
    return await leaderOf(this.#client, this.#line, options);
  }

  /**
   * The leader that has acknowledged, once there is one. WaitTimeoutError, OperationAbortedError,
   * ClientClosedError, SessionExpiredError unless `onSessionLost` is 'rejoin'.
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
