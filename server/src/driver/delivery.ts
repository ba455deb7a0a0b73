/**
 * How much of what the core has to deliver one turn takes: parts, until some ms are over.
 *
 * A part is bounded by its bytes, which say little of its time: large values are applied as fast as
 * small ones. One part a turn would fall behind without end where turns are long, as with many
 * readers; all of it in one turn keeps heartbeats and clients waiting. So does a long delivery keep
 * what is ready to be sent, which leaves after its first parts. Never looks at proposals.
 */
import type { Timers } from '../net/timers.js';
import type { Zab } from '../zab/index.js';

/** Most turns have no more than these: all that they have to send leaves together then. */
const PARTS_BEFORE_SENDING = 2;

export interface Delivery {
  readonly zab: Pick<Zab, 'hasMore'>;
  readonly timers: Pick<Timers, 'nowMs'>;
  readonly options: { readonly deliveryMsMax: number };
}

export interface DeliveryHooks {
  /** Has the core deliver a part. */
  next(): void;
  /** What clients are told already, and what others wait for, does not wait for a long delivery. */
  sendAll(): void;
}

/** One part at least, if there is any. */
export function deliverParts({ zab, timers, options }: Delivery, hooks: DeliveryHooks): void {
  const untilMs = timers.nowMs() + options.deliveryMsMax;
  for (let parts = 0; zab.hasMore; parts++) {
    if (parts === PARTS_BEFORE_SENDING) hooks.sendAll();
    hooks.next();
    if (timers.nowMs() >= untilMs) return;
  }
}
