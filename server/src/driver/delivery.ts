/**
 * How much of what the core has to deliver one turn takes: parts, until some ms are over.
 *
 * A part is bounded by its bytes, which say little of its time: large values are applied as fast as
 * small ones. One part a turn would fall behind without end where turns are long, as with many
 * readers; all of it in one turn keeps heartbeats and clients waiting. Never looks at proposals.
 */
import type { Timers } from '../net/timers.js';
import type { Zab } from '../zab/index.js';

export interface Delivery {
  readonly zab: Pick<Zab, 'hasMore'>;
  readonly timers: Pick<Timers, 'nowMs'>;
  readonly options: { readonly deliveryMsMax: number };
}

/** `next` has the core deliver a part: at least one, if there is any. */
export function deliverParts({ zab, timers, options }: Delivery, next: () => void): void {
  const untilMs = timers.nowMs() + options.deliveryMsMax;
  while (zab.hasMore) {
    next();
    if (timers.nowMs() >= untilMs) return;
  }
}
