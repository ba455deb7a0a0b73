/**
 * Traces of a page, as its developer tools record them: what each task of the main thread cost in
 * time of the processor.
 */
import type { Page } from 'playwright-core';

export interface TraceEvent {
  readonly name: string;
  readonly cat: string;
  readonly pid: number;
  readonly tid: number;
  /** The thread's processor time, in µs; absent where it is not measured. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** Everything that happened while `act` ran. */
export async function traced(page: Page, act: () => Promise<void>): Promise<TraceEvent[]> {
  const session = await page.context().newCDPSession(page);
  const events: TraceEvent[] = [];
  session.on('Tracing.dataCollected', ({ value }) => {
    events.push(...(value as unknown as TraceEvent[]));
  });
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['toplevel', 'devtools.timeline', '__metadata'] },
  });
  await act();
  const done = new Promise<void>((resolve) => {
    session.once('Tracing.tracingComplete', () => resolve());
  });
  await session.send('Tracing.end');
  await done;
  await session.detach();
  return events;
}

/** The longest task of the main thread of a page. Throws if none was recorded. */
export function longestTaskMs(events: readonly TraceEvent[]): number {
  const threads = new Set(
    events
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const tasks = events.filter(
    ({ name, pid, tid, tdur }) =>
      tdur !== undefined && /RunTask$/.test(name) && threads.has(`${pid} ${tid}`),
  );
  if (tasks.length === 0) throw new Error('the trace has no tasks of the main thread');
  return Math.max(...tasks.map(({ tdur = 0 }) => tdur)) / 1_000;
}
