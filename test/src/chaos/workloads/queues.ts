/**
 * Two queues of sequential znodes. In `total-queue` a client has the entry that it deletes, in any
 * order. In `linear-queue` every change raises the parent's version, so that only the first entry
 * can be taken. Each element that goes in comes out once.
 *
 * History of both: `enqueue` element; `dequeue` null -> element, or null if the queue was empty
 * after a sync. A `dequeue` with an unknown outcome has the element that it may have taken as its
 * value.
 */
import type { Client } from '@rookery/client';
import { checkLinearQueue, checkTotalQueue } from '../checkers/queues.js';
import type { Json } from '../history/entry.js';
import { attempt, looking, type Note } from './attempt.js';
import { atTheEnd, Numbers, prepare, type Station, untilTrue, work } from './station.js';
import type { Workload, WorkloadContext } from './workload.js';

const CLIENTS = 4;
/** From how many entries at the head the queue without order takes one. */
const CHOICE = 3;

interface QueueKind {
  readonly name: string;
  readonly check: Workload['check'];
  enqueue(client: Client, path: string, element: number): Promise<unknown>;
  /** Resolves with the element; null if the queue is empty. */
  dequeue(station: Station, path: string, note: Note): Promise<number | null>;
}

const totalQueue: QueueKind = {
  name: 'total-queue',
  check: checkTotalQueue,
  enqueue: (client, path, element) => client.multi([createEntry(path, element)]),
  dequeue: async ({ client, random }, path, note) => {
    const names = await entries(client, path);
    if (names.length === 0) return null;
    const entry = `${path}/${random.pick(names.slice(0, CHOICE))}`;
    const { data, stat } = await looking(client.getData(entry));
    note(Number(data));
    await client.multi([
      { kind: 'check', path, version: 0 },
      { kind: 'delete', path: entry, version: stat.version },
    ]);
    return Number(data);
  },
};

const linearQueue: QueueKind = {
  name: 'linear-queue',
  check: checkLinearQueue,
  enqueue: (client, path, element) =>
    client.multi([{ kind: 'setData', path, data: '' }, createEntry(path, element)]),
  dequeue: async ({ client }, path, note) => {
    const { stat } = await looking(client.getData(path));
    const [head] = await entries(client, path);
    if (head === undefined) return null;
    const { data } = await looking(client.getData(`${path}/${head}`));
    note(Number(data));
    // This check fails if an entry has come or gone since the version was read.
    await client.multi([
      { kind: 'setData', path, data: '', version: stat.version },
      { kind: 'delete', path: `${path}/${head}` },
    ]);
    return Number(data);
  },
};

export function totalQueueWorkload(): Workload {
  return queueWorkload(totalQueue);
}

export function linearQueueWorkload(): Workload {
  return queueWorkload(linearQueue);
}

function queueWorkload(kind: QueueKind): Workload {
  const { name, check } = kind;
  const numbers = new Numbers();

  /** Resolves with whether it succeeded; calls `onTaken` with the element. */
  const dequeue = (station: Station, path: string, onTaken: (element: Json) => void) => {
    const { client, recorder } = station;
    return attempt({ client, recorder, f: 'dequeue', value: null }, async (note) => {
      let element = await kind.dequeue(station, path, note);
      if (element === null) {
        await looking(client.sync(path));
        element = await kind.dequeue(station, path, note);
      }
      onTaken(element);
      return element;
    });
  };

  async function step(station: Station, { prefix }: WorkloadContext): Promise<boolean> {
    const { client, recorder, random } = station;
    if (random.chance(0.5)) return await dequeue(station, prefix, () => {});
    const element = numbers.next();
    return await attempt({ client, recorder, f: 'enqueue', value: element }, async () => {
      await kind.enqueue(client, prefix, element);
      return element;
    });
  }

  return {
    name,
    clients: CLIENTS,
    check,
    setup: (context) => prepare(context),
    run: (number, context, signal) =>
      work({ workload: name, number, context, signal }, (station) => step(station, context)),
    finish: (context) =>
      atTheEnd({ workload: name, number: CLIENTS, context }, async (station) => {
        let last: Json = 0;
        while (last !== null) {
          await untilTrue('drains the queue', () =>
            dequeue(station, context.prefix, (element) => {
              last = element;
            }),
          );
        }
      }),
  };
}

function createEntry(path: string, element: number) {
  return {
    kind: 'create' as const,
    mode: 'persistentSequential' as const,
    path: `${path}/entry-`,
    data: `${element}`,
  };
}

async function entries(client: Client, path: string): Promise<string[]> {
  const { children } = await looking(client.getChildren(path));
  return [...children].sort();
}
