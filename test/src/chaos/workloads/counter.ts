/**
 * Adds to counters. An addition of n is one multi of n sequential creates, and the value is the
 * number of children. All of a multi counts or none of it, and the sequence numbers are the states
 * of the counter. All additions to one counter have the same n, so half a multi would show.
 *
 * History: `add` [key, n] -> [key, n, [sequence numbers]]; `read` [key, null] -> [key, number of
 * children listed, number of children that the stat says].
 */
import { checkCounter } from '../checkers/counter.js';
import { attempt } from './attempt.js';
import { atTheEnd, Keys, prepare, type Station, sequenceOf, untilTrue, work } from './station.js';
import type { Workload, WorkloadContext } from './workload.js';

const NAME = 'counter';
const CLIENTS = 4;
const STEPS_EACH_KEY = 400;
const STEPS = [2, 3, 5] as const;

export function counterWorkload(): Workload {
  const keys = new Keys(STEPS_EACH_KEY, '');

  const read = ({ client, recorder }: Station, prefix: string, key: number) =>
    attempt({ client, recorder, f: 'read', value: [key, null], isRead: true }, async () => {
      const path = `${prefix}/${key}`;
      await client.sync(path);
      const { children, stat } = await client.getChildren(path);
      return [key, children.length, stat.numChildren];
    });

  async function step(station: Station, { prefix }: WorkloadContext): Promise<boolean> {
    const { client, recorder, random } = station;
    const key = await keys.next(station, prefix);
    if (key === null) return false;
    if (random.chance(0.4)) return await read(station, prefix, key);
    const step = STEPS[key % STEPS.length] ?? 2;
    return await attempt({ client, recorder, f: 'add', value: [key, step] }, async () => {
      const path = `${prefix}/${key}/n`;
      const create = { kind: 'create', path, mode: 'persistentSequential' } as const;
      const results = await client.multi(Array.from({ length: step }, () => create));
      const numbers = results.map((result) =>
        result.kind === 'create' ? sequenceOf(result.path) : Number.NaN,
      );
      return [key, step, numbers];
    });
  }

  return {
    name: NAME,
    clients: CLIENTS,
    check: checkCounter,
    setup: (context) => prepare(context),
    run: (number, context, signal) =>
      work({ workload: NAME, number, context, signal }, (station) => step(station, context)),
    finish: (context) =>
      atTheEnd({ workload: NAME, number: CLIENTS, context }, async (station) => {
        for (const key of keys.all) {
          await untilTrue(`reads counter ${key}`, () => read(station, context.prefix, key));
        }
      }),
  };
}
