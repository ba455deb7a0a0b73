/**
 * Arithmetic of transaction ids: `epoch * 2^32 + counter`.
 *
 * An epoch is below 2^21, so that a zxid is a safe integer and compares as a number. Nothing here
 * rolls over: a leader whose counter is used up steps down, and the next epoch begins.
 */
import { assert } from '../basics/assert.js';
import type { Zxid } from './proposal.js';

const COUNTER_SPAN = 0x1_0000_0000;

export const COUNTER_MAX = 0xffff_ffff;
export const EPOCH_MAX = 0x1f_ffff;

export function makeZxid(epoch: number, counter: number): Zxid {
  assert(isUintUpTo(epoch, EPOCH_MAX), () => `epoch ${epoch} is not in 0..${EPOCH_MAX}`);
  assert(isUintUpTo(counter, COUNTER_MAX), () => `counter ${counter} is not in 0..${COUNTER_MAX}`);
  return epoch * COUNTER_SPAN + counter;
}

export function epochOf(zxid: Zxid): number {
  return Math.floor(zxid / COUNTER_SPAN);
}

export function counterOf(zxid: Zxid): number {
  return zxid >>> 0;
}

/** Whether `makeZxid` can return the value; to be asked of zxids from a disk or a peer. */
export function isZxid(value: number): value is Zxid {
  return Number.isSafeInteger(value) && value >= 0;
}

/** As logs and messages show a zxid, also one that a client sent, which may be any number. */
export function formatZxid(zxid: Zxid | bigint): string {
  return `0x${zxid.toString(16)}`;
}

function isUintUpTo(value: number, max: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= max;
}
