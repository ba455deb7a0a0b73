/**
 * Disks are below their reserves, which the members measure: of one member, often the leader, of
 * some, or of all, at once as on a shared disk or one after the other. No write fails.
 */
import type { FaultKind } from '../contract/fault.js';
import { pick, roll, some, whole } from './dice.js';

/** What of the reserve is free: much of it, or too little for a snapshot. */
const SHARES = [0.5, 0.5, 0.05] as const;
const APART_MS_MAX = 3_000;
/** Most faults are over before a disk has been measured, and its shortage has lasted. */
const LONGER_MS_MAX = 8_000;

export const lowDisk: FaultKind = {
  name: 'low-disk',
  begin: (world, fault, stage) => {
    const isOne = roll(fault, 0) < 0.6;
    const isLeader = isOne && roll(fault, 1) < 0.5 && world.leader !== 0;
    const count = isOne ? 1 : whole(1, world.ids.length, roll(fault, 1));
    const ids = isLeader ? [world.leader] : some(world, count, roll(fault, 2));
    const apartMs = roll(fault, 3) < 0.5 ? 0 : APART_MS_MAX * roll(fault, 4);
    let isOver = false;
    ids.forEach((id, at) => {
      const share = pick(SHARES, (roll(fault, 5) + at / 3) % 1);
      if (at * apartMs === 0) world.leaveRoom(id, share);
      else stage.later(at * apartMs, () => isOver || world.leaveRoom(id, share));
    });
    return () => {
      isOver = true;
      stage.later(LONGER_MS_MAX * roll(fault, 7), () => {
        for (const id of ids) world.leaveRoom(id, null);
      });
    };
  },
};
