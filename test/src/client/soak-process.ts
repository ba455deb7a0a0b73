/**
 * A process with every recipe of the library at work, for as long as it is let: the child of
 * soak.ts, which breaks what is under it.
 *
 * Each recipe has two clients of its own and repeats its event (recipe-events.ts) on the same
 * objects. An event that fails, as it may while its session is lost, or that comes to nothing for
 * long, closes both clients and begins anew; so whatever a recipe leaves behind a closed client
 * adds up in the heap. Nothing here catches a rejection that nobody awaits: Node then ends the
 * process.
 *
 *   node soak-process.js <servers>
 */
import { setMaxListeners } from 'node:events';
import { writeHeapSnapshot } from 'node:v8';
import { type Client, connect } from '@rookery/client';
import { within } from '../harness/wait.js';
import { heapBytes } from './heap-bytes.js';
import { EVENTS, type Event } from './recipe-events.js';

/** What the parent is told when it asks. */
export interface SoakStatus {
  /** Without compiled code. */
  readonly heapBytes: number;
  /** The number of events of each recipe, and how often it has begun anew. */
  readonly events: Readonly<Record<string, number>>;
  readonly begun: Readonly<Record<string, number>>;
  /** Why each recipe had to begin anew last. */
  readonly endings: Readonly<Record<string, string>>;
  /** Of each recipe, what it does now, and the states of its clients. */
  readonly steps: Readonly<Record<string, string>>;
  /** Warnings of Node, such as of listeners that add up. */
  readonly warnings: readonly string[];
}

const [, , servers = ''] = process.argv;
const SESSION_TIMEOUT_MS = 6_000;
const EVENT_DEADLINE_MS = 30_000;
const PAUSE_MS = 50;
const WARNINGS_MAX = 20;

const stop = new AbortController();
// One event of each recipe listens, and each client that is being opened.
setMaxListeners(0, stop.signal);
const clients = new Set<Client>();
const events: Record<string, number> = {};
const begun: Record<string, number> = {};
const endings: Record<string, string> = {};
const steps: Record<string, string> = {};
const warnings: string[] = [];

process.on('warning', ({ name, message }) => {
  if (name !== 'RookeryWarning' && warnings.length < WARNINGS_MAX) warnings.push(message);
});
process.on('message', (question) => {
  const [, file] = /^snapshot (.+)$/.exec(String(question)) ?? [];
  if (file !== undefined) writeHeapSnapshot(file);
  void answer();
});
process.once('SIGTERM', () => {
  stop.abort();
  process.disconnect();
  for (const client of clients) void client.close();
});
for (const name of Object.keys(EVENTS)) void work(name);

async function work(name: string): Promise<void> {
  for (let round = 0; !stop.signal.aborted; round++) {
    begun[name] = round + 1;
    try {
      await beginAnew(name, `/soak/${process.pid}/${name}/${round}`);
    } catch (error) {
      endings[name] = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    }
  }
}

async function beginAnew(name: string, path: string): Promise<void> {
  const open = EVENTS[name];
  if (open === undefined) throw new Error(`there is no event of ${name}`);
  const own: Client[] = [];
  try {
    steps[name] = 'opens its clients';
    own.push(await opened(name), await opened(name));
    const [client, other] = own;
    if (client === undefined || other === undefined) throw new Error('two clients were opened');
    steps[name] = 'begins';
    const opening = Promise.resolve(open(client, path, other));
    const event = await within(`${name} begins`, EVENT_DEADLINE_MS, opening);
    steps[name] = 'waits for an event';
    while (!stop.signal.aborted) {
      await untilStopped(name, event);
      events[name] = (events[name] ?? 0) + 1;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  } finally {
    steps[name] = 'closes its clients';
    await Promise.all(own.map((client) => client.close()));
    for (const client of own) clients.delete(client);
  }
}

/**
 * Rejects when all is over, and when the event does not come: what it listens to falls silent when
 * its client is closed, and nothing else ends that wait. Keeps nothing of an event that never
 * comes, for that would be taken for a leak of the library.
 */
async function untilStopped(name: string, event: Event): Promise<void> {
  const { signal } = stop;
  let onStop = () => {};
  const stopped = new Promise<never>((_resolve, reject) => {
    onStop = () => reject(new Error('it is over'));
    signal.addEventListener('abort', onStop);
  });
  try {
    await within(`an event of ${name}`, EVENT_DEADLINE_MS, Promise.race([event(), stopped]));
  } finally {
    signal.removeEventListener('abort', onStop);
  }
}

async function opened(name: string): Promise<Client> {
  const options = { name, sessionTimeoutMs: SESSION_TIMEOUT_MS, connectDeadlineMs: 0 };
  const client = await connect(servers, { ...options, signal: stop.signal });
  clients.add(client);
  return client;
}

async function answer(): Promise<void> {
  const status: SoakStatus = {
    heapBytes: await heapBytes(),
    events,
    begun,
    endings,
    steps: Object.fromEntries(
      Object.entries(steps).map(([name, step]) => [name, withStates(name, step)]),
    ),
    warnings,
  };
  if (process.connected) process.send?.(status);
}

function withStates(name: string, step: string): string {
  const states = [...clients].filter((client) => client.name === name).map(({ state }) => state);
  return `${step} (${states.join(', ')})`;
}
