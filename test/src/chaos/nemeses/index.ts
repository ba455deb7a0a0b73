/**
 * Lists all nemeses in the order of their kinds.
 */
import { clockJump, clockStrobe } from './clock.js';
import { flippedBit, flippedWhileServing, truncatedFile, wipedMember } from './damage.js';
import { diskFull, diskFullAll } from './disk-full.js';
import { diskLow, diskLowAll, diskLowLeader } from './disk-low.js';
import { killAll, killInTurn, killLeader, killOne, killSome } from './kill.js';
import type { Nemesis } from './nemesis.js';
import {
  blindNode,
  blindOthers,
  partitionBridge,
  partitionFlapping,
  partitionHalves,
  partitionLeader,
  partitionRing,
} from './partition.js';
import { pauseAll, pauseLeader, pauseOne, pauseSome, stutter } from './pause.js';
import { delay, linkFlapping, loss } from './weather.js';

export type { Field, Nemesis } from './nemesis.js';

export const NEMESES: readonly Nemesis[] = [
  ...[killOne, killLeader, killSome, killAll, killInTurn],
  ...[pauseOne, pauseLeader, pauseSome, pauseAll, stutter],
  ...[partitionHalves, partitionRing, partitionBridge, partitionLeader],
  ...[blindNode, blindOthers, partitionFlapping],
  ...[loss, delay, linkFlapping],
  ...[diskFull, diskFullAll],
  ...[diskLow, diskLowLeader, diskLowAll],
  ...[flippedBit, flippedWhileServing, truncatedFile, wipedMember],
  ...[clockJump, clockStrobe],
];
