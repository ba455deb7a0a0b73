/**
 * TwoPhaseCommit: several sites agree to commit or to abort. This is the coordinator;
 * TransactionSite is a site's part.
 *
 * **Guarantee.** There is one decision, and it never changes. It is 'commit' only if every site has
 * voted for that: the votes are checked in the same transaction that writes the decision. All who
 * learn it learn the same. A single 'abort' decides at once. As in every two-phase commit, a site
 * that has voted 'commit' must wait for the decision. The decision is stored, so no death loses it,
 * and everybody who can read the votes can make it (`resolve()`), not only the coordinator.
 *
 * **Znodes.** `<path>`, persistent, has JSON: the state (open, commit or abort), the sites, the
 * kind and the payload. `<path>/<site>` has the site's vote, written once. In the persistent kind
 * it is created with the transaction. In the ephemeral kind the site creates it when it joins, and
 * `<path>/_coordinator` is ephemeral too; the death of a site or of the coordinator before the
 * decision then aborts the transaction. Each site deletes its own znode when it has carried out the
 * decision, and the coordinator deletes the rest (`finish()`).
 *
 * **Suspended.** Waits continue. **Lost.** Waits continue in the next session. In the ephemeral
 * kind a lost session counts as a death. Only the coordinator watches the votes; a site watches the
 * decision.
 */

import { joinPath, NodeExistsError, NoNodeError, NotEmptyError, parentOf } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import { TransactionError } from '../api/errors.js';
import type { TransactionOp } from '../api/transaction.js';
import type { Acl, Node } from '../api/values.js';
import { checkCallOptions } from '../calls/call-options.js';
import { createContainers } from './shared/container-parent.js';
import { type Doubt, persistWrite, withAmbiguity } from './shared/doubt.js';
import { RecipeStateError } from './shared/errors.js';
import { ensureGone } from './shared/idempotent.js';
import { bounds, persist, type Within } from './shared/persist.js';
import { changeOf, lookAt, lookAtChildren, type Sight } from './shared/sight.js';
import {
  COORDINATOR,
  checkSites,
  type Decision,
  decide,
  encodeState,
  readTransaction,
  type TransactionState,
  tallyOf,
  tryToDecide,
} from './shared/two-phase-state.js';
import { unlessAborted, type WaitOptions } from './shared/wait-scope.js';

export interface TwoPhaseCommitOptions extends WaitOptions {
  /**
   * Whether the death of a participant aborts the transaction; 'persistent' (it does not) by
   * default.
   */
  readonly kind?: 'persistent' | 'ephemeral' | undefined;
  /** Data for the sites that describes the transaction. */
  readonly payload?: Uint8Array | string | undefined;
  /** The ACL of all znodes; OPEN_ACL by default. */
  readonly acl?: readonly Acl[] | undefined;
}

export class TwoPhaseCommit {
  readonly path: string;
  readonly sites: readonly string[];
  readonly #client: Client;
  readonly #isEphemeral: boolean;
  /** The sites that were seen. In the ephemeral kind, one of them that is missing later is dead. */
  readonly #joined = new Set<string>();

  /**
   * Begins a transaction at a path that must not exist yet, else NodeExistsError. The names of
   * sites must differ and must not begin with an underscore. After an `ambiguous` error it may have
   * begun; then resume it, at least to abort and finish it.
   */
  static async begin(
    client: Client,
    path: string,
    sites: readonly string[],
    options: TwoPhaseCommitOptions = {},
  ): Promise<TwoPhaseCommit> {
    checkSites(sites);
    checkCallOptions(options);
    const { kind = 'persistent', payload = '', acl, signal, timeoutMs } = options;
    const state: TransactionState = {
      state: 'open',
      id: client.surroundings.uuid(),
      kind,
      sites,
      payload: Buffer.from(payload).toString('base64'),
    };
    await withAmbiguity(client, path, { signal, timeoutMs }, async (within, doubt) => {
      await persistWrite(client, within, doubt, () => create(client, path, { state, acl }, within));
    });
    return new TwoPhaseCommit(client, path, state);
  }

  /**
   * Returns a transaction that was begun before, for a coordinator that has restarted. Rejects with
   * NoNodeError.
   */
  static async resume(
    client: Client,
    path: string,
    options: WaitOptions = {},
  ): Promise<TwoPhaseCommit> {
    return await waiting(client, path, options, async (within) => {
      await persist(client, within, () => client.sync(path, bounds(within)));
      const { state } = await readTransaction(client, path, within);
      return new TwoPhaseCommit(client, path, state);
    });
  }

  private constructor(client: Client, path: string, { sites, kind }: TransactionState) {
    this.path = path;
    this.sites = sites;
    this.#client = client;
    this.#isEphemeral = kind === 'ephemeral';
  }

  /**
   * Waits for the votes and decides. WaitTimeoutError leaves it open: call again, or `abort()`.
   * Rejects with OperationAbortedError, ClientClosedError, or an error of the server.
   */
  async decision(options: WaitOptions = {}): Promise<Decision> {
    return await waiting(this.#client, this.path, options, (within, doubt) =>
      this.#follow(within, doubt),
    );
  }

  /** Aborts unless it is already decided. Resolves with the decision. */
  async abort(options: WaitOptions = {}): Promise<Decision> {
    return await waiting(this.#client, this.path, options, (within, doubt) =>
      decide(this.#client, this.path, 'abort', { within, doubt }),
    );
  }

  /** Decides if the votes allow it now; null while votes are missing. */
  async resolve(options: WaitOptions = {}): Promise<Decision | null> {
    return await waiting(this.#client, this.path, options, (within, doubt) =>
      tryToDecide(this.#client, this.path, within, doubt),
    );
  }

  /**
   * Waits until every site has carried out the decision, and deletes the transaction. It does not
   * wait for a dead site of the ephemeral kind. Rejects with RecipeStateError if nothing is decided
   * yet, and with NotEmptyError if a znode of others is below the transaction.
   */
  async finish(options: WaitOptions = {}): Promise<void> {
    await waiting(this.#client, this.path, options, async (within, doubt) => {
      try {
        const { state } = await readTransaction(this.#client, this.path, within);
        if (state.state === 'open') throw new RecipeStateError(this.path, 'nothing is decided');
      } catch (error) {
        if (error instanceof NoNodeError) return;
        throw error;
      }
      do {
        doubt.mayBeDone = false;
        while (!(await this.#areSitesGoneAfterChange(within)));
        doubt.mayBeDone = true;
      } while (!(await this.#isRemoved(within)));
    });
  }

  #isOurs(name: string): boolean {
    return name === COORDINATOR || this.sites.includes(name);
  }

  /** False if a site joined meanwhile; it will find the decision. */
  async #isRemoved(within: Within): Promise<boolean> {
    await ensureGone(this.#client, joinPath(this.path, COORDINATOR), within);
    try {
      await ensureGone(this.#client, this.path, within);
      return true;
    } catch (error) {
      if (!(error instanceof NotEmptyError)) throw error;
      const names = await this.#children(within);
      if (names.some((name) => !this.#isOurs(name))) throw error;
      return false;
    }
  }

  /** None where somebody else has removed the transaction. */
  async #children(within: Within): Promise<readonly string[]> {
    try {
      const { children } = await persist(this.#client, within, () =>
        this.#client.getChildren(this.path, bounds(within)),
      );
      return children;
    } catch (error) {
      if (error instanceof NoNodeError) return [];
      throw error;
    }
  }

  async #areSitesGoneAfterChange(within: Within): Promise<boolean> {
    const sight = await lookAtChildren(this.#client, this.path, within);
    try {
      const left = (sight.seen ?? []).filter((name) => this.sites.includes(name));
      if (left.length === 0) return true;
      await changeOf(sight, within);
      return false;
    } finally {
      sight.forget();
    }
  }

  /** Watches the decision and each vote; after a change, reads only what has changed. */
  async #follow(within: Within, doubt: Doubt): Promise<Decision> {
    const sights = new Map<string, Sight<Node>>();
    const names = this.#isEphemeral ? [COORDINATOR, ...this.sites] : this.sites;
    const paths = [this.path, ...names.map((name) => joinPath(this.path, name))];
    try {
      for (;;) {
        for (const path of paths) {
          if (!sights.has(path)) sights.set(path, await lookAt(this.#client, path, within));
        }
        const decided = await this.#decideBy(sights, { within, doubt });
        if (decided !== null) return decided;
        const changed = await unlessAborted(firstOf(sights), within.signal);
        const sight = sights.get(changed);
        sights.delete(changed);
        sight?.forget();
        if (sight !== undefined) await changeOf(sight, within);
      }
    } finally {
      for (const sight of sights.values()) sight.forget();
    }
  }

  async #decideBy(
    sights: ReadonlyMap<string, Sight<Node>>,
    asking: { readonly within: Within; readonly doubt: Doubt },
  ): Promise<Decision | null> {
    const seen = (name: string) => sights.get(joinPath(this.path, name))?.seen ?? null;
    const transaction = sights.get(this.path)?.seen ?? null;
    if (transaction === null) throw new NoNodeError(this.path);
    const tally = tallyOf(transaction, this.sites.map(seen));
    if (tally.kind === 'decided') return tally.decision;
    const isDead = this.#isEphemeral && (seen(COORDINATOR) === null || this.#isSiteGone(seen));
    if (isDead) return await decide(this.#client, this.path, 'abort', asking);
    if (tally.kind === 'open') return null;
    return await decide(this.#client, this.path, tally.decision, asking);
  }

  #isSiteGone(seen: (name: string) => Node | null): boolean {
    for (const site of this.sites) {
      if (seen(site) !== null) this.#joined.add(site);
      else if (this.#joined.has(site)) return true;
    }
    return false;
  }
}

async function firstOf(sights: ReadonlyMap<string, Sight<Node>>): Promise<string> {
  return await Promise.race(
    [...sights].map(async ([path, { changed }]) => {
      await changed;
      return path;
    }),
  );
}

async function create(
  client: Client,
  path: string,
  plan: { readonly state: TransactionState; readonly acl: readonly Acl[] | undefined },
  within: Within,
): Promise<void> {
  const { state, acl } = plan;
  const given = acl === undefined ? {} : { acl };
  const isEphemeral = state.kind === 'ephemeral';
  const children: TransactionOp[] = isEphemeral
    ? [{ kind: 'create', path: joinPath(path, COORDINATOR), mode: 'ephemeral', ...given }]
    : state.sites.map((site) => ({ kind: 'create', path: joinPath(path, site), ...given }));
  const ops: TransactionOp[] = [
    { kind: 'create', path, data: encodeState(state), ...given },
    ...children,
  ];
  for (let round = 1; ; round++) {
    try {
      await client.multi(ops, bounds(within));
      return;
    } catch (error) {
      if (!(error instanceof TransactionError)) throw error;
      if (error.error instanceof NodeExistsError) {
        // It is ours if the reply to an earlier attempt was lost.
        if ((await idAt(client, path, within)) === state.id) return;
        throw error.error;
      }
      if (!(error.error instanceof NoNodeError) || round === ROUNDS_MAX) throw error.error;
    }
    await createContainers(client, parentOf(path), { ...bounds(within), acl });
  }
}

/** Null if the transaction does not exist (any more). */
async function idAt(client: Client, path: string, within: Within): Promise<string | null> {
  try {
    return (await readTransaction(client, path, within)).state.id;
  } catch (error) {
    if (error instanceof RecipeStateError || error instanceof NoNodeError) return null;
    throw error;
  }
}

const ROUNDS_MAX = 10;

function waiting<T>(
  client: Client,
  path: string,
  options: WaitOptions,
  attempt: (within: Within, doubt: Doubt) => Promise<T>,
): Promise<T> {
  return withAmbiguity(client, path, { ...options, onSessionLost: 'rejoin' }, attempt);
}
