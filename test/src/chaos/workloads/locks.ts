/**
 * Locks with fencing tokens. The holders of one lock one after the other read a register and write
 * one more through `fenced`. The states of the register are what counts: the number in it is its
 * version, or else some client has overwritten another one's write; and the tokens in it never
 * decrease.
 *
 * History: `acquire` null -> [token, tokens of others that are held at this moment]; `fenced-write`
 * [token, count] -> [token, count, version]; `release` token; `lost` token (a lease's signal was
 * aborted before its release); `read` null -> [token, count, version] of the register at the end.
 */
import { type Lease, Lock } from '@rookery/client';
import { checkLocks } from '../checkers/locks.js';
import { attempt } from './attempt.js';
import { atTheEnd, pause, prepare, type Station, untilTrue, work } from './station.js';
import type { Workload, WorkloadContext } from './workload.js';

const NAME = 'locks';
const CLIENTS = 4;
const ACQUIRE_TIMEOUT_MS = 5_000;
const WRITES_MAX = 4;
const HOLD_MAX_MS = 40;

export function locksWorkload(): Workload {
  /** The leases that any client holds. */
  const held = new Set<Lease>();

  async function step(station: Station, { prefix }: WorkloadContext, lock: Lock): Promise<boolean> {
    const { client, recorder, random, signal } = station;
    const given: Lease[] = [];
    await attempt({ client, recorder, f: 'acquire', value: null }, async () => {
      const lease = await lock.acquire({ timeoutMs: ACQUIRE_TIMEOUT_MS });
      const others = [...held].filter((other) => other.held).map(tokenOf);
      given.push(lease);
      held.add(lease);
      return [tokenOf(lease), lease.held ? others : []];
    });
    const [taken] = given;
    if (taken === undefined) return false;
    const stopTelling = tellLoss(station, taken);
    let isWell = true;
    for (let left = 1 + random.below(WRITES_MAX); left > 0 && isWell; left--) {
      isWell = await write(station, `${prefix}/register`, taken);
      await pause(random.below(HOLD_MAX_MS), signal);
    }
    stopTelling();
    held.delete(taken);
    await attempt({ client, recorder, f: 'release', value: tokenOf(taken) }, async () => {
      await taken.release();
      return tokenOf(taken);
    });
    return isWell;
  }

  return {
    name: NAME,
    clients: CLIENTS,
    check: checkLocks,
    setup: (context) => {
      return prepare(context, [{ path: `${context.prefix}/register`, data: '[0,0]' }]);
    },
    run: (number, context, signal) => {
      let lock: Lock | null = null;
      return work({ workload: NAME, number, context, signal }, (station) => {
        lock ??= new Lock(station.client, `${context.prefix}/lock`);
        return step(station, context, lock);
      });
    },
    finish: (context) =>
      atTheEnd({ workload: NAME, number: CLIENTS, context }, async ({ client, recorder }) => {
        const path = `${context.prefix}/register`;
        await untilTrue('reads the register', () =>
          attempt({ client, recorder, f: 'read', value: null, isRead: true }, async () => {
            await client.sync(path);
            const { data, stat } = await client.getData(path);
            return [...countIn(data), stat.version];
          }),
        );
      }),
  };
}

async function write({ client, recorder }: Station, path: string, lease: Lease): Promise<boolean> {
  const token = tokenOf(lease);
  let count = 0;
  const reading = { client, recorder, f: 'look', value: token, isRead: true };
  const isRead = await attempt(reading, async () => {
    // The former holder wrote before its lock was gone, and this session has seen that it is gone.
    const [, seen] = countIn((await client.getData(path, { session: lease.sessionId })).data);
    count = seen;
    return [token, seen];
  });
  if (!isRead) return false;
  const value = [token, count + 1];
  return await attempt({ client, recorder, f: 'fenced-write', value }, async () => {
    const ops = [{ kind: 'setData', path, data: JSON.stringify(value) } as const];
    const [result] = await client.fenced(lease, ops);
    if (result?.kind !== 'setData') throw new Error('a setData was answered by something else');
    return [...value, result.stat.version];
  });
}

function tellLoss({ tell }: Station, lease: Lease): () => void {
  const onAbort = () => tell('lost', tokenOf(lease));
  if (lease.held) lease.signal.addEventListener('abort', onAbort);
  else onAbort();
  return () => lease.signal.removeEventListener('abort', onAbort);
}

function tokenOf({ fencingToken }: Lease): number {
  return Number(fencingToken);
}

/** Parses the register: the token of its last writer, and the number of writes. */
function countIn(data: Buffer | null): readonly [number, number] {
  const [token, count]: unknown[] = JSON.parse(`${data}`);
  return [Number(token), Number(count)];
}
