/**
 * Six hundred connections without a session send four-letter words to the leader, over and over.
 *
 * `cons` and `stat` list every connection of the member, so the work grows with the square of the
 * number of connections. A member that answers them one after the other in one turn is silent to
 * its followers meanwhile.
 */
import type { BadNeighbour } from './bad-neighbour.js';
import { leaderHost } from './leader-host.js';
import { askAgainAndAgain } from './word.js';

const STRANGERS = 600;
const QUICK_STRANGERS = 100;
const WORDS = ['cons', 'stat'] as const;

export const strangersAsking: BadNeighbour = {
  name: 'bad-strangers-asking',
  what: '600 strangers ask the leader for cons and stat',
  memoryBoundMB: 200,
  onZooKeeper: true,
  memberSettings: {
    rookery: { fourLetterWords: '*' },
    zookeeper: ['4lw.commands.whitelist=*'],
  },
  attack: async (context, signal) => {
    const host = await leaderHost(context);
    const strangers = context.settings.isQuick ? QUICK_STRANGERS : STRANGERS;
    await Promise.all(
      Array.from({ length: strangers }, (_, index) =>
        askAgainAndAgain(host, WORDS[index % WORDS.length] ?? 'stat', signal),
      ),
    );
  },
};
