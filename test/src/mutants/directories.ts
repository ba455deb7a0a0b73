/** Mutants of what a directory records: its starts, and the servers with which it served. */
import type { Mutant } from './mutant.js';

/** A member that lags while the others acknowledge may elect the one that went back. */
const WENT_BACK = [
  'kinds=["went-back","went-back","slow-disk","slow-disk","crash-leader","crash-several"]',
  'members=3',
  'clients.readShare=0.2',
] as const;
const UNEQUAL = ['kinds=["unequal-files"]', 'members=3'] as const;

export const directoryMutants: readonly Mutant[] = [
  {
    name: 'old-copy-keeps-its-vote',
    area: 'storage',
    breaks: 'a member whose directory went back in time has no vote',
    aim: WENT_BACK,
    in: 'KnownStarts.isBehind',
    find: 'return isBeside(this.own, this.earlier, offer.lastSeen);',
    replace: 'return isBeside(this.own, this.earlier, offer.lastSeen) && offer.treeBytes < 0;',
  },
  {
    name: 'earlier-starts-not-kept',
    area: 'storage',
    breaks: 'an old copy is detected even if it was started alone many times',
    aim: WENT_BACK,
    in: 'StartsRecord.countStart',
    find: 'const recent = [...instances, this.#setup.instance].slice(-STARTS_KEPT);',
    replace: 'const recent = [...instances, this.#setup.instance].slice(-1).slice(-STARTS_KEPT);',
  },
  {
    name: 'former-list-forgotten',
    area: 'storage',
    breaks: 'a changed list of servers needs a majority of the former one, too',
    aim: UNEQUAL,
    in: 'planServing',
    find: 'const former = before.lists.filter((one) => one.join() !== list.join());',
    replace: 'const former = before.lists.filter((one) => one.length === 0);',
  },
];
