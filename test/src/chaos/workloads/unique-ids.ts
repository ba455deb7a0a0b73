/**
 * Takes the numbers of sequential znodes as unique ids, and deletes half of the znodes at once. No
 * number is given twice, and numbers grow from one answer to the next call.
 *
 * History: `generate` null -> number.
 */
import { checkUniqueIds } from '../checkers/unique-ids.js';
import { attempt, isAmbiguous } from './attempt.js';
import { prepare, type Station, sequenceOf, work } from './station.js';
import type { Workload, WorkloadContext } from './workload.js';

const NAME = 'unique-ids';
const CLIENTS = 3;

export function uniqueIdsWorkload(): Workload {
  async function step(station: Station, { prefix }: WorkloadContext): Promise<boolean> {
    const { client, recorder, random } = station;
    let path: string | null = null;
    const isWell = await attempt({ client, recorder, f: 'generate', value: null }, async () => {
      const made = await client.create(`${prefix}/id-`, null, { mode: 'persistentSequential' });
      path = made.path;
      return sequenceOf(made.path);
    });
    if (path !== null && random.chance(0.5)) {
      await client.delete(path).catch((error: unknown) => {
        if (isAmbiguous(error) === null) throw error;
      });
    }
    return isWell;
  }

  return {
    name: NAME,
    clients: CLIENTS,
    check: checkUniqueIds,
    setup: (context) => prepare(context),
    run: (number, context, signal) =>
      work({ workload: NAME, number, context, signal }, (station) => step(station, context)),
    finish: async () => {},
  };
}
