/** Mutants of what members without room do, where the simulator shows them. */
import type { Mutant } from './mutant.js';

/** Disks stay below their reserves for longer than it takes to notice. */
const LOW_DISKS = [
  ...['durationMs=25000', 'spreadMs=25000', 'faults=8', 'kinds=["low-disk"]', 'members=3'],
  ...['settings.peerTimeoutMs=200', 'settings.peerHeartbeatMs=20', 'clients.thinkMaxMs=100'],
] as const;

export const roomMutants: readonly Mutant[] = [
  {
    name: 'one-full-member-stops-all',
    area: 'zab',
    breaks: 'data is refused only where members with room are no quorum',
    aim: LOW_DISKS,
    in: 'LeadersRoom.judge',
    find: 'const isEnough = hasQuorum && !hasHandedOver;',
    replace: 'const isEnough = hasQuorum && full.length === 0 && !hasHandedOver;',
  },
  {
    name: 'full-majority-goes-on',
    area: 'zab',
    breaks: 'data is refused where members with room are no quorum',
    aim: LOW_DISKS,
    in: 'LeadersRoom.judge',
    find: 'this.refuses = !isEnough && (isOwnFull || full.length > 0);',
    replace: 'this.refuses = !isEnough && full.length > links.size;',
  },
  {
    name: 'spared-member-goes-on',
    area: 'zab',
    breaks: 'a member that its leader does without logs nothing more',
    aim: LOW_DISKS,
    in: 'Following.#stepOut',
    find: 'this.#transitions.look($WHY);',
    replace: 'void $WHY;',
  },
];
