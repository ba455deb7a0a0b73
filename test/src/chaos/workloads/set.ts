/**
 * Sets of children that only grow: every sync and getChildren shows each element that was
 * acknowledged before.
 *
 * History: `add` [key, element]; `read` [key, null] -> [key, [elements]].
 */
import { checkSet } from '../checkers/set.js';
import { attempt } from './attempt.js';
import { atTheEnd, Keys, Numbers, prepare, type Station, untilTrue, work } from './station.js';
import type { Workload, WorkloadContext } from './workload.js';

const NAME = 'set';
const CLIENTS = 4;
const STEPS_EACH_KEY = 500;

export function setWorkload(): Workload {
  const keys = new Keys(STEPS_EACH_KEY, '');
  const numbers = new Numbers();

  const read = ({ client, recorder }: Station, prefix: string, key: number) =>
    attempt({ client, recorder, f: 'read', value: [key, null], isRead: true }, async () => {
      const path = `${prefix}/${key}`;
      await client.sync(path);
      const { children } = await client.getChildren(path);
      return [key, children.map((name) => Number(name.slice(1))).sort((a, b) => a - b)];
    });

  async function step(station: Station, { prefix }: WorkloadContext): Promise<boolean> {
    const { client, recorder, random } = station;
    const key = await keys.next(station, prefix);
    if (key === null) return false;
    if (random.chance(0.2)) return await read(station, prefix, key);
    const element = numbers.next();
    return await attempt({ client, recorder, f: 'add', value: [key, element] }, async () => {
      await client.create(`${prefix}/${key}/e${element}`);
      return [key, element];
    });
  }

  return {
    name: NAME,
    clients: CLIENTS,
    check: checkSet,
    setup: (context) => prepare(context),
    run: (number, context, signal) =>
      work({ workload: NAME, number, context, signal }, (station) => step(station, context)),
    finish: (context) =>
      atTheEnd({ workload: NAME, number: CLIENTS, context }, async (station) => {
        for (const key of keys.all) {
          await untilTrue(`reads set ${key}`, () => read(station, context.prefix, key));
        }
      }),
  };
}
