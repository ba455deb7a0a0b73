/**
 * Reads, writes, and compares and sets registers: each znode must behave like one variable in
 * memory. A read is sync and getData; some reads are a stream that does not wait for answers. A
 * compare-and-set reads the version and sets with it. Values are unique, so every answer tells
 * which write it shows.
 *
 * History: `read` [key, null] -> [key, value]; `write` [key, value]; `cas` [key, [old, new]].
 */
import type { Client } from '@rookery/client';
import { checkCasRegister } from '../checkers/cas-register.js';
import type { Recorder } from '../history/history-writer.js';
import { attempt, looking, NotDone } from './attempt.js';
import { Keys, Numbers, prepare, type Station, stream, work } from './station.js';
import type { Workload, WorkloadContext } from './workload.js';

const NAME = 'cas-register';
const CLIENTS = 4;
/** Enough steps that a fault begins and ends within one key, and few enough to check quickly. */
const STEPS_EACH_KEY = 300;
const STREAM = { intervalMaxMs: 400, underWayMax: 20 };

export function casRegisterWorkload(): Workload {
  const keys = new Keys(STEPS_EACH_KEY, '0');
  const numbers = new Numbers();
  /** For each key the last value that any client saw, so that a compare-and-set may succeed. */
  const lastSeen = new Map<number, number>();

  const read = (client: Client, recorder: Recorder, { prefix }: WorkloadContext, key: number) =>
    attempt({ client, recorder, f: 'read', value: [key, null], isRead: true }, async () => {
      const path = `${prefix}/${key}`;
      const [, { data }] = await Promise.all([client.sync(path), client.getData(path)]);
      lastSeen.set(key, Number(data));
      return [key, Number(data)];
    });

  async function step(station: Station, context: WorkloadContext): Promise<boolean> {
    const { client, recorder, random } = station;
    const key = await keys.next(station, context.prefix);
    if (key === null) return false;
    const path = `${context.prefix}/${key}`;
    const kind = random.pick(['read', 'write', 'cas'] as const);
    if (kind === 'read') return await read(client, recorder, context, key);
    const value = numbers.next();
    if (kind === 'write') {
      return await attempt({ client, recorder, f: kind, value: [key, value] }, async () => {
        await client.setData(path, `${value}`);
        lastSeen.set(key, value);
        return [key, value];
      });
    }
    const old = lastSeen.get(key) ?? 0;
    return await attempt({ client, recorder, f: kind, value: [key, [old, value]] }, async () => {
      const { data, stat } = await looking(client.getData(path));
      if (Number(data) !== old) {
        lastSeen.set(key, Number(data));
        throw new NotDone(`it is ${data}`);
      }
      await client.setData(path, `${value}`, { version: stat.version });
      lastSeen.set(key, value);
      return [key, [old, value]];
    });
  }

  return {
    name: NAME,
    clients: CLIENTS,
    check: checkCasRegister,
    setup: (context) => prepare(context),
    run: (number, context, signal) =>
      work(
        { workload: NAME, number, context, signal },
        (station) => step(station, context),
        (station) =>
          stream(station, STREAM, async (recorder) => {
            const key = await keys.next(station, context.prefix);
            if (key !== null) await read(station.client, recorder, context, key);
          }),
      ),
    finish: async () => {},
  };
}
