/** All kinds of faults, by name. The order is part of every seed's meaning: append only. */
import type { FaultKind } from '../contract/fault.js';
import { cleanStop } from './clean-stop.js';
import { clientsCut } from './clients-cut.js';
import { clientsFlapping } from './clients-flapping.js';
import { clockRate } from './clock-rate.js';
import { crash } from './crash.js';
import { crashAtChange } from './crash-at-change.js';
import { crashLeader } from './crash-leader.js';
import { crashSeveral } from './crash-several.js';
import { cutLog } from './cut-log.js';
import { decay } from './decay.js';
import { delay } from './delay.js';
import { failedSync } from './failed-sync.js';
import { flipBit } from './flip-bit.js';
import { flipLast } from './flip-last.js';
import { fullDisk } from './full-disk.js';
import { fullOnce } from './full-once.js';
import { hangingResolver } from './hanging-resolver.js';
import { interruptedSnapshot } from './interrupted-snapshot.js';
import { isolateFollower } from './isolate-follower.js';
import { isolateLeader } from './isolate-leader.js';
import { lowDisk } from './low-disk.js';
import { overtakenLeader } from './overtaken-leader.js';
import { partitionBridge } from './partition-bridge.js';
import { partitionFlapping } from './partition-flapping.js';
import { partitionHalves } from './partition-halves.js';
import { partitionOneWay } from './partition-one-way.js';
import { resetLink } from './reset-link.js';
import { restartAll } from './restart-all.js';
import { slowDisk } from './slow-disk.js';
import { stallLong, stallShort } from './stall.js';
import { stoppedClock } from './stopped-clock.js';
import { twoLeaderships } from './two-leaderships.js';
import { unequalFiles } from './unequal-files.js';
import { wallClock } from './wall-clock.js';
import { wentBack } from './went-back.js';
import { wipe } from './wipe.js';

export { CLOCK_DRIFT } from './clock-rate.js';
export { DICE_COUNT, roll } from './dice.js';
export { StrikeGuard } from './guard.js';
export { bothWays, cutAll } from './links.js';

/** During these faults a client's handshake may be answered and the answer held back. */
export const CUTS_CLIENTS: readonly string[] = [clientsCut.name, clientsFlapping.name];

/** During these faults messages between members take longer, by at most this. */
export const DELAYS: readonly string[] = [delay.name];
export const DELAY_MS_MAX = 3_000;

export const FAULT_KINDS: ReadonlyMap<string, FaultKind> = new Map(
  [
    ...[crash, crashLeader, crashSeveral, crashAtChange, restartAll, cleanStop],
    ...[partitionHalves, partitionOneWay, partitionBridge, partitionFlapping],
    ...[isolateLeader, isolateFollower, resetLink, delay],
    ...[stallShort, stallLong, wallClock, clockRate],
    ...[slowDisk, failedSync, fullDisk, wipe, flipBit],
    ...[interruptedSnapshot],
    ...[clientsCut, clientsFlapping],
    ...[cutLog],
    ...[wentBack, unequalFiles, hangingResolver],
    ...[stoppedClock],
    ...[overtakenLeader, twoLeaderships, decay, fullOnce],
    ...[lowDisk, flipLast],
  ].map((kind) => [kind.name, kind]),
);
