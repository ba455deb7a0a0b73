/** Bugs of the repair of a damaged disk while its member serves. ZooKeeper has no such repair. */
import type { NamedMutant } from './named-mutant.js';

const SERVING = 'server/src/simulated/damage-while-serving.test.ts';

export const repairMutants: readonly NamedMutant[] = [
  {
    name: 'repair-without-quorum',
    area: 'named',
    in: 'DamageRepair.#maybeSwitch',
    find: 'if (attempt === null || !this.#isConfirmed(attempt)) return;',
    replace: 'if (attempt === null) return;',
    breaks: 'memory that no quorum has confirmed never replaces a damaged disk',
    scenario: {
      file: SERVING,
      name: 'is not repaired from a memory that differs from a quorum',
    },
  },
  {
    name: 'repair-proved-by-an-earlier-state',
    area: 'named',
    in: 'DamageRepair.#isConfirmed',
    find: `if (confirmed === null || confirmed.zxid < zxid) return false;
      return confirmed.zxid > zxid || confirmed.digest === digest;`,
    replace: `if (confirmed === null) return false;
      return confirmed.zxid !== zxid || confirmed.digest === digest;`,
    breaks: 'a repair from memory is proved by its own state or by one that was made from it',
    scenario: {
      file: SERVING,
      name: 'is not repaired by what a quorum has confirmed of an earlier state',
    },
  },
  {
    name: 'leader-ends-on-damage',
    area: 'named',
    in: 'Transfers.sendSnapshot',
    find: 'if (!(error instanceof DamagedError)) throw error;',
    replace: 'if (error instanceof DamagedError) throw error;',
    breaks: 'a leader whose disk is damaged goes on leading',
    scenario: {
      file: SERVING,
      name: 'that a snapshot for a learner meets is repaired, and the learner joins',
    },
  },
];
