/**
 * TransactionSite: a site's part in a two-phase commit; see TwoPhaseCommit for guarantee, znodes
 * and what suspended and lost mean.
 *
 * A site joins, prepares, votes once, waits for the outcome, carries it out, and says so. Whoever
 * has voted 'abort' need not wait: that is the outcome. Whoever has voted 'commit' must be able to
 * do either until it is known. A site that starts again in between takes the same name and asks
 * for the outcome; in the ephemeral kind its death has aborted the transaction, if it was not
 * decided before.
 */
import { BadVersionError, joinPath, NodeExistsError, NoNodeError } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import type { Acl } from '../api/values.js';
import { asDoubtful, type Doubt, persistWrite } from './shared/doubt.js';
import { RecipeStateError } from './shared/errors.js';
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
  /** Of the znode that a site of the ephemeral kind makes; open by default. */
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
   * Waits until the transaction is there and takes part; its payload. RecipeStateError when the
   * site is not one of its sites. In the ephemeral kind it waits while another session takes part
   * under the name: after a restart that is the site's own, until the server ends it, which aborts
   * a transaction that is not decided. An error that is `ambiguous` means that the site may take
   * part: its session ends that.
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
   * Votes, once: RecipeStateError when it has voted otherwise, or has not joined (or has died, in
   * the ephemeral kind). 'abort' decides the transaction before this resolves.
   */
  async vote(vote: Decision, options: WaitOptions = {}): Promise<void> {
    await this.#asking(options, async (within, doubt) => {
      await persistWrite(this.#client, within, doubt, () => this.#write(vote, within));
      // From here on it has voted: an error is about the decision, which others can draw as well.
      doubt.mayBeDone = true;
      if (vote === 'abort') await decide(this.#client, this.path, 'abort', { within, doubt });
    });
  }

  /** Waits for the decision. NoNodeError when there is no transaction (any more). */
  async outcome(options: WaitOptions = {}): Promise<Decision> {
    return await this.#asking(options, async (within, doubt) => {
      for (;;) {
        const decision = await this.#decisionAfterChange(within, doubt);
        if (decision !== null) return decision;
      }
    });
  }

  /** Decides if the votes allow it now, for when the coordinator does not; null otherwise. */
  async resolve(options: WaitOptions = {}): Promise<Decision | null> {
    return await this.#asking(options, (within, doubt) =>
      tryToDecide(this.#client, this.path, within, doubt),
    );
  }

  /** Says that the decision is carried out. RecipeStateError when nothing is decided yet. */
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
      const isEphemeral = state.kind === 'ephemeral';
      doubt.mayBeDone = true;
      await removeOwn(this.#client, { path: this.#votePath, isEphemeral }, within);
    });
  }

  /** False while another session is this site. */
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
      // The same: an earlier attempt, whose reply was lost, or an earlier life of this site.
      if (data?.toString() !== vote) {
        throw new RecipeStateError(this.#votePath, `the site has voted ${data}`);
      }
    }
  }

  /** Null when there is none yet, after something has changed. */
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
    return await asDoubtful(this.#client, this.path, given, attempt);
  }
}
