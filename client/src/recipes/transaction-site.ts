/**
 * TransactionSite: a site's part in a two-phase commit. See TwoPhaseCommit for the guarantee, the
 * znodes, and the behaviour when suspended and lost.
 *
 * A site joins, prepares, votes once, waits for the outcome, carries it out, and reports that. A
 * site that has voted 'abort' need not wait, because that is the outcome. A site that has voted
 * 'commit' must be able to do either until the outcome is known. A site that restarts in between
 * uses the same name and asks for the outcome. In the ephemeral kind its death has aborted the
 * transaction, unless it was already decided.
 */
import { BadVersionError, joinPath, NodeExistsError, NoNodeError } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import type { Acl } from '../api/values.js';
import { type Doubt, persistWrite, withAmbiguity } from './shared/doubt.js';
import { RecipeStateError } from './shared/errors.js';
import { ensureGone } from './shared/idempotent.js';
import { bounds, type Within } from './shared/persist.js';
import { removeOwn } from './shared/remove-own.js';
import { changeOf, lookAt, lookAtStat } from './shared/sight.js';
import {
  COORDINATOR,
  checkSites,
  type Decision,
  decide,
  decodeState,
  readTransaction,
  type TransactionState,
  tryToDecide,
} from './shared/two-phase-state.js';
import type { WaitOptions } from './shared/wait-scope.js';

export interface TransactionSiteOptions {
  /** The ACL of the znode that a site creates in the ephemeral kind; OPEN_ACL by default. */
  readonly acl?: readonly Acl[] | undefined;
}

export class TransactionSite {
  readonly path: string;
  readonly name: string;
  readonly #client: Client;
  readonly #acl: readonly Acl[] | undefined;

  constructor(client: Client, path: string, name: string, options: TransactionSiteOptions = {}) {
    checkSites([name]);
    this.path = path;
    this.name = name;
    this.#client = client;
    this.#acl = options.acl;
  }

  get #votePath(): string {
    return joinPath(this.path, this.name);
  }

  /**
   * Waits until the transaction exists, takes part, and resolves with its payload. Rejects with
   * RecipeStateError if the site is not one of its sites. In the ephemeral kind it waits while
   * another session takes part under the name. After a restart that is the site's own previous
   * session, until the server ends it, which aborts a transaction that is not decided. An
   * `ambiguous` error means that the site may take part until its session ends.
   */
  async join(options: WaitOptions = {}): Promise<Buffer> {
    return await this.#asking(options, async (within, doubt) => {
      for (;;) {
        const sight = await lookAt(this.#client, this.path, within);
        try {
          if (sight.seen === null) {
            await changeOf(sight, within);
            continue;
          }
          const state = decodeState(sight.seen.data, this.path);
          if (await this.#enter(state, within, doubt)) return Buffer.from(state.payload, 'base64');
          await this.#otherSessionEnded(within);
        } finally {
          sight.forget();
        }
      }
    });
  }

  /**
   * Votes, once. Rejects with RecipeStateError if the site has voted otherwise or has not joined
   * (or has died, in the ephemeral kind). 'abort' decides the transaction before this resolves.
   */
  async vote(vote: Decision, options: WaitOptions = {}): Promise<void> {
    await this.#asking(options, async (within, doubt) => {
      await persistWrite(this.#client, within, doubt, () => this.#write(vote, within));
      // From here on it has voted: an error concerns the decision, which others can make too.
      doubt.mayBeDone = true;
      if (vote === 'abort') await decide(this.#client, this.path, 'abort', { within, doubt });
    });
  }

  /**
   * Waits for the decision. Rejects with NoNodeError if the transaction does not exist (any more).
   */
  async outcome(options: WaitOptions = {}): Promise<Decision> {
    return await this.#asking(options, async (within, doubt) => {
      for (;;) {
        const decision = await this.#decisionAfterChange(within, doubt);
        if (decision !== null) return decision;
      }
    });
  }

  /** Decides if the votes allow it now, in case the coordinator does not; null otherwise. */
  async resolve(options: WaitOptions = {}): Promise<Decision | null> {
    return await this.#asking(options, (within, doubt) =>
      tryToDecide(this.#client, this.path, within, doubt),
    );
  }

  /**
   * Reports that the decision was carried out. Rejects with RecipeStateError if nothing is decided
   * yet, and with NotEmptyError if somebody has put a znode below the site's.
   */
  async finish(options: WaitOptions = {}): Promise<void> {
    await this.#asking(options, async (within, doubt) => {
      let state: TransactionState;
      try {
        ({ state } = await readTransaction(this.#client, this.path, within));
      } catch (error) {
        if (error instanceof NoNodeError) return;
        throw error;
      }
      if (state.state === 'open') throw new RecipeStateError(this.path, 'nothing is decided');
      doubt.mayBeDone = true;
      const [client, path] = [this.#client, this.#votePath];
      if (state.kind === 'persistent') await ensureGone(client, path, within);
      else await removeOwn(client, { path, isEphemeral: true }, within);
    });
  }

  /** False while another session represents this site. */
  async #enter(state: TransactionState, within: Within, doubt: Doubt): Promise<boolean> {
    if (!state.sites.includes(this.name)) {
      throw new RecipeStateError(this.path, `${this.name} is not one of the sites`);
    }
    if (state.kind === 'persistent' || state.state !== 'open') return true;
    return await persistWrite(this.#client, within, doubt, async () => {
      const given = this.#acl === undefined ? {} : { acl: this.#acl };
      const options = { ...bounds(within), ...given, mode: 'ephemeral' } as const;
      try {
        await this.#client.create(this.#votePath, null, options);
        return true;
      } catch (error) {
        if (!(error instanceof NodeExistsError)) throw error;
        const stat = await this.#client.exists(this.#votePath, bounds(within));
        return stat?.ephemeralOwner === within.session.id;
      }
    });
  }

  async #otherSessionEnded(within: Within): Promise<void> {
    const sight = await lookAtStat(this.#client, this.#votePath, within);
    try {
      if (sight.seen !== null && sight.seen.ephemeralOwner !== within.session.id) {
        await changeOf(sight, within);
      }
    } finally {
      sight.forget();
    }
  }

  async #write(vote: Decision, within: Within): Promise<void> {
    const options = bounds(within);
    try {
      await this.#client.setData(this.#votePath, vote, { ...options, version: 0 });
    } catch (error) {
      if (error instanceof NoNodeError) {
        throw new RecipeStateError(this.#votePath, 'the site takes no part');
      }
      if (!(error instanceof BadVersionError)) throw error;
      const { data } = await this.#client.getData(this.#votePath, options);
      // The same vote was written by an earlier attempt whose reply was lost, or before a restart
      // of this site.
      if (data?.toString() !== vote) {
        throw new RecipeStateError(this.#votePath, `the site has voted ${data}`);
      }
    }
  }

  /** Null if there is none yet, after something has changed. */
  async #decisionAfterChange(within: Within, doubt: Doubt): Promise<Decision | null> {
    const transaction = await lookAt(this.#client, this.path, within);
    try {
      if (transaction.seen === null) throw new NoNodeError(this.path);
      const { state, kind } = decodeState(transaction.seen.data, this.path);
      if (state !== 'open') return state;
      if (kind === 'persistent') {
        await changeOf(transaction, within);
        return null;
      }
      const path = joinPath(this.path, COORDINATOR);
      const coordinator = await lookAtStat(this.#client, path, within);
      try {
        if (coordinator.seen === null) {
          return await decide(this.#client, this.path, 'abort', { within, doubt });
        }
        const changed = Promise.race([transaction.changed, coordinator.changed]);
        await changeOf({ ...transaction, changed }, within);
        return null;
      } finally {
        coordinator.forget();
      }
    } finally {
      transaction.forget();
    }
  }

  async #asking<T>(
    options: WaitOptions,
    attempt: (within: Within, doubt: Doubt) => Promise<T>,
  ): Promise<T> {
    const given = { ...options, onSessionLost: 'rejoin' as const };
    return await withAmbiguity(this.#client, this.path, given, attempt);
  }
}
