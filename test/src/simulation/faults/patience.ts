/** Faults that wait for a moment at which the ensemble is as they need it. */
import type { Stage } from '../contract/fault.js';
import type { World } from '../contract/world.js';

const LOOK_EVERY_MS = 20;

/** Calls `action` once `isTime` holds, with true, or with false after this time. */
export function awaitMoment(
  world: World,
  stage: Stage,
  { isTime, withinMs }: { readonly isTime: () => boolean; readonly withinMs: number },
  action: (isTime: boolean) => void,
): void {
  const untilMs = world.nowMs + withinMs;
  const look = () => {
    if (isTime()) action(true);
    else if (world.nowMs >= untilMs) action(false);
    else stage.later(LOOK_EVERY_MS, look);
  };
  look();
}
