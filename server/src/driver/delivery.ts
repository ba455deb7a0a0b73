/**
 * Bounds how much committed history one turn delivers: parts of it, until some ms are over.
 *
 * A part is bounded in bytes, which say little about its time, because large values are applied as
 * fast as small ones. With one part in each turn a member would fall behind where turns are long,
 * as with many readers. With everything in one turn heartbeats and clients would wait. What is
 * ready to be sent leaves after the first parts. Never looks into proposals.
 */
import type { Timers } from '../net/timers.js';
import type { Zab } from '../zab/index.js';

/** Most turns deliver no more parts than these, and then everything is sent together. */
const PARTS_BEFORE_SENDING = 2;

export interface Delivery {
  readonly zab: Pick<Zab, 'hasMore'>;
  readonly timers: Pick<Timers, 'nowMs'>;
  readonly options: { readonly deliveryMsMax: number };
}

export interface DeliveryHooks {
  /** Makes the core deliver one part. */
  next(): void;
  /** Sends what is ready, so that it does not wait for the end of a long delivery. */
  sendAll(): void;
}

/** Delivers at least one part if there is any. */
export function deliverParts({ zab, timers, options }: Delivery, hooks: DeliveryHooks): void {
  const untilMs = timers.nowMs() + options.deliveryMsMax;
  for (let parts = 0; zab.hasMore; parts++) {
    if (parts === PARTS_BEFORE_SENDING) hooks.sendAll();
    hooks.next();
    if (timers.nowMs() >= untilMs) return;
  }
}
