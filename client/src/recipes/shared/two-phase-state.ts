/**
 * The znodes of a two-phase commit: their contents, and the one write that decides it.
 *
 * The decision is the second version of the transaction's znode, so it is made only once, whether
 * by the coordinator or a site. 'commit' is written together with a check of every vote, which is
 * also written only once. Used by the coordinator and the sites.
 */
import { BadVersionError, joinPath, NoNodeError } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import { OptionError, TransactionError } from '../../api/errors.js';
import type { TransactionOp } from '../../api/transaction.js';
import type { Node } from '../../api/values.js';
import { type Doubt, persistWrite } from './doubt.js';
import { RecipeStateError } from './errors.js';
import { bounds, persist, type Within } from './persist.js';

export type Decision = 'commit' | 'abort';

export interface TransactionState {
  readonly state: 'open' | Decision;
  /** Distinguishes it from an earlier transaction at the same path. */
  readonly id: string;
  readonly kind: 'persistent' | 'ephemeral';
  readonly sites: readonly string[];
  /** Base64. */
  readonly payload: string;
}

export const COORDINATOR = '_coordinator';
/** The data version of a vote; a site's znode is created without a vote. */
const VOTED_VERSION = 1;

/** The result of the votes. */
export type Tally =
  | { readonly kind: 'decided'; readonly decision: Decision }
  | { readonly kind: 'due'; readonly decision: Decision }
  | { readonly kind: 'open' };

export function checkSites(sites: readonly string[]): void {
  const isBad = (site: string) => !/^[^_/][^/]*$/.test(site) || site === '.' || site === '..';
  if (sites.length === 0 || sites.some(isBad) || new Set(sites).size < sites.length) {
    throw new OptionError(
      'sites',
      'must be different names without a slash or a leading underscore',
    );
  }
}

export function encodeState(state: TransactionState): string {
  return JSON.stringify(state);
}

/** Throws RecipeStateError if the data is not a transaction. */
export function decodeState(data: Buffer | null, path: string): TransactionState {
  let value: unknown;
  try {
    value = JSON.parse((data ?? '').toString());
  } catch (error) {
    throw new RecipeStateError(path, `no transaction (${String(error)})`);
  }
  if (!isState(value)) throw new RecipeStateError(path, 'no transaction');
  return value;
}

function isState(value: unknown): value is TransactionState {
  if (typeof value !== 'object' || value === null) return false;
  const { state, id, kind, sites, payload } = { ...EMPTY, ...value };
  return (
    (state === 'open' || state === 'commit' || state === 'abort') &&
    typeof id === 'string' &&
    (kind === 'persistent' || kind === 'ephemeral') &&
    Array.isArray(sites) &&
    sites.every((site) => typeof site === 'string') &&
    typeof payload === 'string'
  );
}

const EMPTY: Readonly<Record<keyof TransactionState, unknown>> = {
  state: null,
  id: null,
  kind: null,
  sites: null,
  payload: null,
};

export async function readTransaction(
  client: Client,
  path: string,
  within: Within,
): Promise<{ readonly state: TransactionState; readonly version: number }> {
  const { data, stat } = await persist(client, within, () => client.getData(path, bounds(within)));
  return { state: decodeState(data, path), version: stat.version };
}

/**
 * Evaluates the znodes of the transaction and of the sites; `votes` is in the order of the sites,
 * null if there is no znode.
 */
export function tallyOf(transaction: Node, votes: readonly (Node | null)[]): Tally {
  const { state } = decodeState(transaction.data, 'the transaction');
  if (state !== 'open') return { kind: 'decided', decision: state };
  const texts = votes.map((vote) => voteOf(vote));
  if (texts.includes('abort')) return { kind: 'due', decision: 'abort' };
  if (texts.every((text) => text === 'commit')) return { kind: 'due', decision: 'commit' };
  return { kind: 'open' };
}

function voteOf(vote: Node | null): Decision | null {
  if (vote?.stat.version !== VOTED_VERSION) return null;
  const text = vote.data?.toString();
  // An unknown vote does not count as consent.
  return text === 'commit' ? 'commit' : 'abort';
}

/**
 * Writes the decision unless there is one, and resolves with it. 'commit' must only be written if
 * the votes allow it; if a vote turns out to be gone, its znode is gone too, and the decision is
 * 'abort'.
 */
export async function decide(
  client: Client,
  path: string,
  wanted: Decision,
  { within, doubt }: { readonly within: Within; readonly doubt: Doubt },
): Promise<Decision> {
  return await persistWrite(client, within, doubt, async () => {
    for (let decision = wanted; ; ) {
      const { state, version } = await readTransaction(client, path, within);
      if (state.state !== 'open') return state.state;
      const data = encodeState({ ...state, state: decision });
      const write = { kind: 'setData', path, data, version } as const;
      const checks: TransactionOp[] =
        decision === 'abort'
          ? []
          : state.sites.map((site) => {
              return { kind: 'check', path: joinPath(path, site), version: VOTED_VERSION };
            });
      try {
        await client.multi([...checks, write], bounds(within));
        return decision;
      } catch (error) {
        if (!(error instanceof TransactionError)) throw error;
        const isVote = error.failedIndex < checks.length;
        const isLost = error.error instanceof NoNodeError || error.error instanceof BadVersionError;
        if (isVote && isLost) decision = 'abort';
        else if (!(error.error instanceof BadVersionError)) throw error.error;
      }
    }
  });
}

/** Reads all votes and decides if they allow it; null while some are missing. */
export async function tryToDecide(
  client: Client,
  path: string,
  within: Within,
  doubt: Doubt,
): Promise<Decision | null> {
  await persist(client, within, () => client.sync(path, bounds(within)));
  const transaction = await persist(client, within, () => client.getData(path, bounds(within)));
  const { sites } = decodeState(transaction.data, path);
  const votes = await Promise.all(
    sites.map((site) => readVote(client, joinPath(path, site), within)),
  );
  const tally = tallyOf(transaction, votes);
  if (tally.kind === 'open') return null;
  if (tally.kind === 'decided') return tally.decision;
  return await decide(client, path, tally.decision, { within, doubt });
}

async function readVote(client: Client, path: string, within: Within): Promise<Node | null> {
  try {
    return await persist(client, within, () => client.getData(path, bounds(within)));
  } catch (error) {
    if (error instanceof NoNodeError) return null;
    throw error;
  }
}
