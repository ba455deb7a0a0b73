/**
 * Some members are restarted with a different file: a list of servers of which they are a majority,
 * or another timeout. Fewer than half of the members have it, so the others continue.
 */
import type { PeerId } from '@rookery/protocol';
import type { FaultKind } from '../contract/fault.js';
import type { FileChange, World } from '../contract/world.js';
import { bringBack, pick, roll, some } from './dice.js';
import { minorityOf, victimsOf } from './guard.js';

/**
 * With a shorter timeout than before a member abstains for twice that time, which must fit into the
 * end.
 */
const TIMEOUTS_MS = [150, 700, 2_000] as const;

export const unequalFiles: FaultKind = {
  name: 'unequal-files',
  begin: (world, fault, stage) => {
    const isList = roll(fault, 2) < 0.6;
    // Members of unequal lists refuse each other, so only several with one list talk to each other.
    const most = minorityOf(world.ids.length);
    const ids = isList && most > 1 ? some(world, most, roll(fault, 1)) : victimsOf(world, fault);
    const refusal = stage.refusesStrike(ids);
    if (refusal !== null) return refusal;
    // One without an ensemble id, whose file names it alone, would found an ensemble.
    const empty = ids.find((id) => world.struck.has(id));
    if (empty !== undefined) return `member ${empty} may be empty`;
    const differs = isList
      ? { members: listOf(world, ids, roll(fault, 3)) }
      : { peerTimeoutMs: pick(TIMEOUTS_MS, roll(fault, 3)) };
    restartWith(world, ids, differs);
    for (const id of ids) world.start(id);
    return () => {
      restartWith(world, ids, null);
      bringBack(world, stage, { ids, rolled: roll(fault, 7) });
    };
  },
};

/** The smallest list of which they are a majority. */
function listOf(world: World, ids: readonly PeerId[], rolled: number): readonly PeerId[] {
  const others = some(world, world.ids.length, rolled).filter((id) => !ids.includes(id));
  return [...ids, ...others.slice(0, ids.length - 1)].sort((one, other) => one - other);
}

function restartWith(world: World, ids: readonly PeerId[], differs: FileChange | null): void {
  for (const id of ids) {
    world.crash(id, { inFlight: false });
    world.setFile(id, differs);
  }
}
