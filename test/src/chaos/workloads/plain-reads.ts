/**
 * Reads without sync. They may be old, but each client sees the registers as they were after some
 * prefix of all writes, never goes back in time, and sees its own writes, also over reconnects and
 * new sessions.
 *
 * History: `write` [register, value] -> [register, value, zxid of the write]; `read`
 * [register, null] -> [register, value, zxid of the write shown].
 */
import { checkPlainReads } from '../checkers/plain-reads.js';
import { attempt } from './attempt.js';
import { Numbers, prepare, type Station, work } from './station.js';
import type { Workload, WorkloadContext } from './workload.js';

const NAME = 'plain-reads';
const CLIENTS = 4;
const REGISTERS = 5;

export function plainReadsWorkload(): Workload {
  const numbers = new Numbers();

  async function step(station: Station, { prefix }: WorkloadContext): Promise<boolean> {
    const { client, recorder, random } = station;
    const register = random.below(REGISTERS);
    const path = `${prefix}/${register}`;
    if (random.chance(0.3)) {
      const value = numbers.next();
      return await attempt({ client, recorder, f: 'write', value: [register, value] }, async () => {
        const { mzxid } = await client.setData(path, `${value}`);
        return [register, value, Number(mzxid)];
      });
    }
    const reading = { client, recorder, f: 'read', value: [register, null], isRead: true };
    return await attempt(reading, async () => {
      const { data, stat } = await client.getData(path);
      return [register, Number(data), Number(stat.mzxid)];
    });
  }

  return {
    name: NAME,
    clients: CLIENTS,
    check: checkPlainReads,
    setup: (context) => {
      const paths = Array.from({ length: REGISTERS }, (_, index) => `${context.prefix}/${index}`);
      return prepare(
        context,
        paths.map((path) => ({ path, data: '0' })),
      );
    },
    run: (number, context, signal) =>
      work({ workload: NAME, number, context, signal }, (station) => step(station, context)),
    finish: async () => {},
  };
}
