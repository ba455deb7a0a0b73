/**
 * The faults that every recipe at work must live through: the leader dies and comes back, clients
 * are cut off and come back, one for so long that its session is lost. Between any two of them the
 * work must go on. Owns the order of the faults; what is work, and what must hold, is the test's.
 */
import type { Ensemble } from '../harness/ensemble.js';
import { until } from '../harness/wait.js';
import { type CuttableClient, losingSession } from './cuttable-client.js';

const DEADLINE_MS = 60_000;

export interface FaultCourse {
  readonly ensemble: Ensemble;
  /** The first one loses its session. */
  readonly clients: readonly CuttableClient[];
  /** The clients that are cut off for a while, one after the other. */
  readonly cut: readonly CuttableClient[];
  /** What was done so far: only grows. */
  done(): number;
  /** How much must be done after each fault before the next one. */
  readonly step: number;
  /** The same while a client is cut off; by default a third of it. */
  readonly stepWhileCut?: number;
}

/** Resolves when all faults are over and the work has gone on behind the last. */
export async function runFaultCourse(course: FaultCourse): Promise<void> {
  const { ensemble, clients, cut, done, step } = course;
  const smallStep = Math.ceil(step / 3);
  const goOn = async (count: number) => {
    const goal = done() + count;
    await until(`${count} more done`, DEADLINE_MS, () => done() >= goal || undefined);
  };
  await goOn(step);
  const leader = await ensemble.leader();
  await leader.kill();
  await goOn(step);
  for (const client of cut) {
    await client.cut();
    await goOn(course.stepWhileCut ?? smallStep);
    await client.heal();
    await goOn(smallStep);
  }
  ensemble.start([leader.id]);
  await ensemble.serving();
  const [expiring] = clients;
  if (expiring !== undefined) {
    await expiring.cut();
    await losingSession(expiring.client);
    await expiring.heal();
  }
  await goOn(step);
}
