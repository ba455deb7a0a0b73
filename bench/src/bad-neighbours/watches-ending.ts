/**
 * Clients with two million watches at the leader close their connections at the same moment.
 *
 * A member that removes all of them from its tables at once serves nobody for seconds.
 */
import type { BadNeighbour } from './bad-neighbour.js';
import { leaderHost } from './leader-host.js';
import { ManyWatches } from './many-watches.js';

const WATCHES = 2_000_000;
const QUICK_WATCHES = 20_000;

export function watchesEnding(): BadNeighbour {
  let set: ManyWatches | null = null;
  return {
    name: 'bad-watches-ending',
    what: 'clients with 2 million watches close their connections',
    memoryBoundMB: 800,
    onZooKeeper: true,
    prepare: async (context) => {
      const watches = context.settings.isQuick ? QUICK_WATCHES : WATCHES;
      set = await ManyWatches.set(await leaderHost(context), watches);
    },
    attack: async () => {
      if (set === null) throw new Error('the watches were prepared');
      await set.close();
    },
  };
}
