/**
 * Two million watches are set at the leader, and connections without a session count and list them
 * all the time.
 *
 * `wchp` and `wchc` list every watch, over 100 MB each time; `wchs` counts them. A member that
 * iterates over all of them at once is silent meanwhile, and one that builds a single string of
 * them runs out of memory.
 */
import type { BadNeighbour } from './bad-neighbour.js';
import { leaderHost } from './leader-host.js';
import { ManyWatches } from './many-watches.js';
import { askAgainAndAgain } from './word.js';

const WATCHES = 2_000_000;
const QUICK_WATCHES = 20_000;
const ASKERS: readonly (readonly [word: string, count: number])[] = [
  ['wchp', 4],
  ['wchc', 4],
  ['wchs', 50],
];

export const watchesListed: BadNeighbour = {
  name: 'bad-watches-listed',
  what: 'strangers have 2 million watches counted (wchs) and listed (wchp, wchc)',
  memoryBoundMB: 800,
  onZooKeeper: true,
  memberSettings: {
    rookery: { fourLetterWords: '*' },
    zookeeper: ['4lw.commands.whitelist=*'],
  },
  attack: async (context, signal) => {
    const host = await leaderHost(context);
    await Promise.all(
      ASKERS.flatMap(([word, count]) =>
        Array.from({ length: count }, () => askAgainAndAgain(host, word, signal)),
      ),
    );
  },
  prepare: async (context) => {
    const host = await leaderHost(context);
    const watches = context.settings.isQuick ? QUICK_WATCHES : WATCHES;
    const set = await ManyWatches.set(host, watches);
    context.onEnd(() => set.close());
  },
};
