/**
 * Ephemeral znodes of live sessions stay, and those of ended sessions go. Each client has one
 * session after the other: it creates and deletes some znodes, lists all of them (sync and
 * getChildren), and ends by closing, or by falling silent so that the session expires.
 *
 * History: `create` name, which begins with the session's id; `delete` name; `read` null ->
 * [names]; `close` and `vanish` session; `final` null -> [names], when every session is over.
 */
import { type Client, createClient } from '@rookery/client';
import { checkEphemerals } from '../checkers/ephemerals.js';
import { attempt, isAmbiguous } from './attempt.js';
import { FreezableSurroundings } from './frozen.js';
import { atTheEnd, Numbers, pause, prepare, type Station } from './station.js';
import type { Workload, WorkloadContext } from './workload.js';

const NAME = 'ephemerals';
const CLIENTS = 4;
const TURNS_MAX = 40;
const PAUSE_MAX_MS = 50;
const TROUBLE_MS = 50;
/** The most clients that are frozen at a time; the oldest of them is then dropped. */
const SILENT_MAX = 20;
/** In this time the last session must have expired when all members are well. */
const EXPIRY_MS = 90_000;
const POLL_MS = 200;

interface Silent {
  readonly client: Client;
  readonly surroundings: FreezableSurroundings;
}

type Living = Pick<Station, 'client' | 'recorder' | 'random'> & {
  readonly prefix: string;
  /** The prefix of the names of this session's znodes. */
  readonly owner: string;
  readonly own: string[];
  readonly numbers: Numbers;
};

export function ephemeralsWorkload(): Workload {
  const numbers = new Numbers();
  const silent: Silent[] = [];

  async function lives(number: number, context: WorkloadContext, signal: AbortSignal) {
    const recorder = context.history.recorder(NAME, number);
    const random = context.random.fork(`${NAME} ${number}`);
    const { connectString, options } = context.connect(number);
    while (!signal.aborted) {
      const surroundings = new FreezableSurroundings();
      const client = createClient(connectString, { ...options, surroundings, renewSession: false });
      const session = await client.connected({ signal }).catch(ignoreAnswer);
      const isSilent = random.chance(0.5);
      if (session !== null) {
        const owner = session.id.toString(16);
        const { prefix } = context;
        const living: Living = { client, recorder, random, prefix, owner, own: [], numbers };
        await live(living, signal);
        const f = isSilent ? 'vanish' : 'close';
        recorder.invoke(f, owner).ok(owner, { session: owner });
      }
      if (isSilent) {
        surroundings.freeze();
        silent.push({ client, surroundings });
      } else await client.close();
      const oldest = silent.length > SILENT_MAX ? silent.shift() : undefined;
      if (oldest !== undefined) await wake(oldest);
    }
  }

  return {
    name: NAME,
    clients: CLIENTS,
    check: checkEphemerals,
    setup: (context) => prepare(context),
    run: lives,
    finish: async (context) => {
      await atTheEnd({ workload: NAME, number: CLIENTS, context }, async (station) => {
        const endMs = performance.now() + EXPIRY_MS;
        while ((await read(station, context.prefix, 'read')) !== 0 && performance.now() < endMs) {
          await pause(POLL_MS);
        }
        while ((await read(station, context.prefix, 'final')) === null) await pause(POLL_MS);
      });
      await Promise.all(silent.map(wake));
    },
  };
}

async function live(living: Living, signal: AbortSignal): Promise<void> {
  const { client, random } = living;
  for (let left = 1 + random.below(TURNS_MAX); left > 0 && !signal.aborted; left--) {
    const isWell = await step(living);
    if (client.session === null) return;
    await pause(random.below(PAUSE_MAX_MS) + (isWell ? 0 : TROUBLE_MS), signal);
  }
}

async function step(living: Living): Promise<boolean> {
  const { client, recorder, random, prefix, own, owner, numbers } = living;
  const kind = random.next();
  if (kind < 0.4) {
    const value = `${owner}-${numbers.next()}`;
    return await attempt({ client, recorder, f: 'create', value }, async () => {
      await client.create(`${prefix}/${value}`, null, { mode: 'ephemeral' });
      own.push(value);
      return value;
    });
  }
  const gone = kind < 0.55 ? own.shift() : undefined;
  if (gone === undefined) return (await read(living, prefix, 'read')) !== null;
  return await attempt({ client, recorder, f: 'delete', value: gone }, async () => {
    await client.delete(`${prefix}/${gone}`);
    return gone;
  });
}

/** Resolves with the number of znodes; null if they could not be read. */
async function read(
  { client, recorder }: Pick<Station, 'client' | 'recorder'>,
  prefix: string,
  f: 'read' | 'final',
): Promise<number | null> {
  let count: number | null = null;
  await attempt({ client, recorder, f, value: null, isRead: true }, async () => {
    await client.sync(prefix);
    const { children } = await client.getChildren(prefix);
    count = children.length;
    return children;
  });
  return count;
}

async function wake({ client, surroundings }: Silent): Promise<void> {
  surroundings.thaw();
  await client.close();
}

function ignoreAnswer(error: unknown): null {
  if (isAmbiguous(error) === null) throw error;
  return null;
}
