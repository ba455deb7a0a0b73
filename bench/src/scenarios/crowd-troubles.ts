/**
 * What went wrong with a crowd of sessions, as sentences for the report.
 */
import type { CrowdTiming } from '../load/crowd.js';

/** Attempts that failed and were repaired are reported too, because the times include them. */
export function crowdTroubles(
  timings: Readonly<Record<string, readonly CrowdTiming[]>>,
): readonly string[] {
  return Object.entries(timings).flatMap(([step, some]) => {
    const failures = some.reduce((sum, one) => sum + one.failures, 0);
    const reasons = new Map<string, number>();
    for (const timing of some) {
      for (const [reason, count] of Object.entries(timing.reasons)) {
        reasons.set(reason, (reasons.get(reason) ?? 0) + count);
      }
    }
    return [
      ...(failures === 0 ? [] : [`${step}: ${failures} sessions failed`]),
      ...[...reasons].map(([reason, count]) => `${step}: ${count} x ${reason}`),
    ];
  });
}
