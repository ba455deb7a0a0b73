/**
 * A session that owns a million ephemerals is closed, while another one lists its own 40,000 again
 * and again.
 *
 * A member that deletes all of them at once, or lists those of a session in one go, serves nobody
 * for seconds, and counts as dead. The attack is over when the last ephemeral is gone.
 */
import {
  type Client,
  ConnectionLossError,
  ThrottledOpError,
  TransactionError,
} from '@rookery/client';
import type { Context } from '../run/context.js';
import type { BadNeighbour } from './bad-neighbour.js';

interface Sizes {
  readonly closed: number;
  readonly listed: number;
}

const SIZES: Sizes = { closed: 1_000_000, listed: 40_000 };
const QUICK_SIZES: Sizes = { closed: 5_000, listed: 1_000 };
/** Creating the znodes is not the attack, so a busy machine has enough time for it, too. */
const PER_MULTI = 100;
const MULTIS_IN_FLIGHT = 4;
const ASKERS = 4;
const PAUSE_MS = 20;

export function manyEphemerals(): BadNeighbour {
  let closing: Client | null = null;
  let root = '';
  return {
    name: 'bad-many-ephemerals',
    what: 'a session with a million ephemerals is closed, and one with 40,000 asks for them',
    memoryBoundMB: 900,
    onZooKeeper: true,
    // Creating a million znodes takes longer than the ten seconds that other attacks last.
    secondsMin: 60,
    prepare: async (context) => {
      const sizes = context.settings.isQuick ? QUICK_SIZES : SIZES;
      root = context.newRoot();
      closing = await context.client();
      await closing.create(root);
      await createEphemerals(closing, root, sizes.closed);
    },
    attack: async (context, signal) => {
      if (closing === null) throw new Error('the session to close was prepared');
      const owner = closing;
      const over = new AbortController();
      const close = async (): Promise<void> => {
        await owner.close();
        await untilGone(await context.client(), root, signal);
        over.abort();
      };
      await Promise.all([
        close(),
        askAgainAndAgain(context, AbortSignal.any([signal, over.signal])),
      ]);
    },
  };
}

async function createEphemerals(client: Client, below: string, count: number): Promise<void> {
  let next = 0;
  const createSome = async (): Promise<void> => {
    while (next < count) {
      const first = next;
      next += PER_MULTI;
      await createAll(
        client,
        Array.from({ length: PER_MULTI }, (_, at) => `${below}/e${first + at}`),
      );
    }
  };
  await Promise.all(Array.from({ length: MULTIS_IN_FLIGHT }, createSome));
}

/**
 * Repeats a multi when the connection is lost. The first attempt then created either all of the
 * znodes, and the repeated multi is refused, or none.
 */
async function createAll(client: Client, paths: readonly string[]): Promise<void> {
  const ops = paths.map((path) => ({ kind: 'create', path, mode: 'ephemeral' }) as const);
  for (;;) {
    try {
      await client.multi(ops);
      return;
    } catch (error) {
      if (error instanceof TransactionError) return;
      if (!(error instanceof ConnectionLossError)) throw error;
    }
  }
}

/**
 * Rookery is expected to answer that there are too many to list, and ZooKeeper to close the
 * connection.
 */
async function askAgainAndAgain(context: Context, signal: AbortSignal): Promise<void> {
  const sizes = context.settings.isQuick ? QUICK_SIZES : SIZES;
  const client = await context.client();
  const below = context.newRoot();
  await client.create(below);
  await createEphemerals(client, below, sizes.listed);
  const ask = async (): Promise<void> => {
    while (!signal.aborted) {
      await client.getEphemerals().catch((error: unknown) => {
        const isExpected =
          error instanceof ThrottledOpError || error instanceof ConnectionLossError;
        if (!isExpected) throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: ASKERS }, ask));
}

async function untilGone(client: Client, path: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const stat = await client.exists(path);
    if (stat === null || stat.numChildren === 0) return;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
