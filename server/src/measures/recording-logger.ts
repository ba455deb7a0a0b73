/**
 * A member's logger that also keeps its lines at level info and above in the ring of events,
 * whatever level is written.
 */
import type { Logger } from 'pino';
import type { EventRing, MemberEvent } from './event-ring.js';

type Level = MemberEvent['level'];

const LEVELS: readonly Level[] = ['info', 'warn', 'error', 'fatal'];

/** The same logger but for these methods; its children record, too. */
export function recordingLogger(logger: Logger, ring: EventRing): Logger {
  const recording: Logger = Object.create(logger);
  for (const level of LEVELS) {
    const write: (...given: unknown[]) => void = logger[level];
    Object.defineProperty(recording, level, {
      value(this: Logger, ...given: unknown[]): void {
        const [first, second] = given;
        if (typeof first === 'string') ring.add(level, first, {});
        else if (typeof first === 'object' && first !== null) {
          ring.add(level, String(second ?? ''), first);
        }
        Reflect.apply(write, this, given);
      },
    });
  }
  return recording;
}
