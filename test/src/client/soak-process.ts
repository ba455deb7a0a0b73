/**
 * A process with every recipe of the library at work, for as long as it is let: the child of
 * soak.ts, which breaks what is under it.
 *
 * Each recipe has two clients of its own and repeats its event (recipe-events.ts) on the same
 * objects. An event that fails, as it may while its session is lost, closes both clients and begins
 * anew; so whatever a recipe leaves behind a closed client adds up in the heap. An event that never
 * settles is waited for until the end, because it would be the worst failure of a recipe, and the
 * parent notices that. Nothing here catches a rejection that nobody awaits: Node then ends the
 * process.
 *
 *   node soak-process.js <servers>
 */
import { setMaxListeners } from 'node:events';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { writeHeapSnapshot } from 'node:v8';
import { type Client, connect } from '@rookery/client';
import { type Deferred, deferred } from '../harness/wait.js';
import { heapBytes } from './heap-bytes.js';
import { EVENTS } from './recipe-events.js';

/** What the parent asks. */
export interface SoakQuestion {
  /** The answer has the same number. */
  readonly number: number;
  readonly kind: 'status' | 'go-on' | 'snapshot';
  /** Where the snapshot is written. */
  readonly file?: string;
}

/** The answer: at once, or for 'go-on' when each recipe has had another event. */
export interface SoakAnswer {
  readonly number: number;
  readonly status: SoakStatus;
}

export interface SoakStatus {
  /** Without compiled code, as of the last answer to 'go-on'. */
  readonly heapBytes: number;
  /** The number of events of each recipe, and how often it has begun anew. */
  readonly events: Readonly<Record<string, number>>;
  readonly begun: Readonly<Record<string, number>>;
  /** Why each recipe had to begin anew last. */
  readonly endings: Readonly<Record<string, string>>;
  /** What each recipe does now, and the states of its clients. */
  readonly steps: Readonly<Record<string, string>>;
  /** The processor time that this process has had. */
  readonly cpuMs: number;
  /** The longest time, since the answer before, for which the event loop did nothing in between. */
  readonly lagMs: number;
  /** Warnings of Node, such as of listeners that add up. */
  readonly warnings: readonly string[];
}

const [, , servers = ''] = process.argv;
const SESSION_TIMEOUT_MS = 6_000;
const PAUSE_MS = 50;
const WARNINGS_MAX = 20;
const WANTED = process.env['ROOKERY_SOAK_RECIPES']?.split(',');
const NAMES = WANTED ?? Object.keys(EVENTS);

const stop = new AbortController();
// One event of each recipe listens, and each client that is being opened.
setMaxListeners(0, stop.signal);
const clients = new Set<Client>();
const events: Record<string, number> = {};
const begun: Record<string, number> = {};
const endings: Record<string, string> = {};
const steps: Record<string, string> = {};
const warnings: string[] = [];
const lag = monitorEventLoopDelay();
let heldBytes = 0;
/** Resolved at the next event of any recipe. */
let nextEvent: Deferred<void> = deferred();

lag.enable();
process.on('warning', ({ name, message }) => {
  if (name !== 'RookeryWarning' && warnings.length < WARNINGS_MAX) warnings.push(message);
});
process.on('message', (question: SoakQuestion) => void answer(question));
process.once('SIGTERM', () => {
  stop.abort();
  process.disconnect();
  for (const client of clients) void client.close();
});
for (const name of NAMES) void work(name);

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
    const client = await opened(name, own);
    const other = await opened(name, own);
    steps[name] = 'begins';
    const event = await unlessStopped(async () => open(client, path, other));
    steps[name] = 'waits for an event';
    while (!stop.signal.aborted) {
      await unlessStopped(event);
      events[name] = (events[name] ?? 0) + 1;
      nextEvent.resolve();
      nextEvent = deferred();
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  } finally {
    steps[name] = 'closes its clients';
    await Promise.all(own.map((client) => client.close()));
    for (const client of own) clients.delete(client);
  }
}

/**
 * Rejects when all is over, because what an event listens to falls silent when its client is
 * closed, and nothing else ends that wait.
 */
async function unlessStopped<T>(act: () => Promise<T>): Promise<T> {
  const { signal } = stop;
  let onStop = () => {};
  const stopped = new Promise<never>((_resolve, reject) => {
    onStop = () => reject(new Error('it is over'));
    signal.addEventListener('abort', onStop);
  });
  try {
    return await Promise.race([act(), stopped]);
  } finally {
    signal.removeEventListener('abort', onStop);
  }
}

/** Adds the client to `own`, whatever becomes of the next one. */
async function opened(name: string, own: Client[]): Promise<Client> {
  const options = { name, sessionTimeoutMs: SESSION_TIMEOUT_MS, connectDeadlineMs: 0 };
  const client = await connect(servers, { ...options, signal: stop.signal });
  clients.add(client);
  own.push(client);
  return client;
}

async function answer({ number, kind, file = '' }: SoakQuestion): Promise<void> {
  if (kind === 'snapshot') writeHeapSnapshot(file);
  if (kind === 'go-on') {
    await everyRecipeGoesOn();
    heldBytes = await heapBytes();
  }
  const status = statusNow();
  if (process.connected) process.send?.({ number, status });
}

async function everyRecipeGoesOn(): Promise<void> {
  const before = { ...events };
  const hasGoneOn = (name: string) => (events[name] ?? 0) > (before[name] ?? 0);
  while (!NAMES.every(hasGoneOn)) await nextEvent.promise;
}

function statusNow(): SoakStatus {
  const { user, system } = process.cpuUsage();
  const lagMs = lag.max / 1e6;
  lag.reset();
  return {
    heapBytes: heldBytes,
    events,
    begun,
    endings,
    steps: Object.fromEntries(
      Object.entries(steps).map(([name, step]) => [name, withStates(name, step)]),
    ),
    cpuMs: (user + system) / 1e3,
    lagMs,
    warnings,
  };
}

function withStates(name: string, step: string): string {
  const states = [...clients].filter((client) => client.name === name).map(({ state }) => state);
  return `${step} (${states.join(', ')})`;
}
