/**
 * What workloads share: the loop of a client, with its pauses; retries for the first and last
 * steps; and keys that change after a number of operations, so that each has a short history.
 */
import { setMaxListeners } from 'node:events';
import { type Client, createClient, ensurePath, NodeExistsError } from '@rookery/client';
import type { Random } from '../../simulation/random.js';
import type { Json } from '../history/entry.js';
import type { Recorder } from '../history/history-writer.js';
import { isAmbiguous } from './attempt.js';
import type { WorkloadContext } from './workload.js';

/** The longest pause between two operations of a client. */
const PAUSE_MAX_MS = 50;
/** The pause after an operation that failed. */
const TROUBLE_MS = 50;
/** In this time an ensemble without faults must have answered. */
const PATIENCE_MS = 90_000;

/** What one client of a workload has at hand. */
export interface Station {
  readonly client: Client;
  readonly recorder: Recorder;
  /** Makes a recorder for operations at the same time. */
  readonly newRecorder: () => Recorder;
  readonly random: Random;
  readonly number: number;
  readonly signal: AbortSignal;
  /** Records something that happened without a call, such as an event, as a process of its own. */
  readonly tell: (f: string, value: Json) => void;
}

export interface StationOptions {
  readonly workload: string;
  readonly number: number;
  readonly context: WorkloadContext;
  readonly signal: AbortSignal;
}

/**
 * Does one step after the other until the signal aborts; a step returns whether it succeeded.
 * `besides` runs at the same time, with the same client.
 */
export async function work(
  options: StationOptions,
  step: (station: Station) => Promise<boolean>,
  besides: (station: Station) => Promise<void> = async () => {},
): Promise<void> {
  const { signal } = options;
  const station = newStation(options);
  const steps = async () => {
    while (!signal.aborted) {
      const isWell = await step(station);
      await pause(station.random.below(PAUSE_MAX_MS) + (isWell ? 0 : TROUBLE_MS), signal);
    }
  };
  try {
    await Promise.all([steps(), besides(station)]);
  } finally {
    await station.client.close();
  }
}

export interface Stream {
  /** The longest time between the beginnings of two operations. */
  readonly intervalMaxMs: number;
  /** The number of operations in progress at which no further one begins. */
  readonly underWayMax: number;
}

/**
 * Begins operations whether or not earlier ones have been answered. Some of them are thereby sent
 * while a member is paused. When it continues, its answers show old values if it should not have
 * answered at all.
 */
export async function stream(
  { random, signal, newRecorder }: Station,
  { intervalMaxMs, underWayMax }: Stream,
  operation: (recorder: Recorder) => Promise<unknown>,
): Promise<void> {
  const idle = Array.from({ length: underWayMax }, newRecorder);
  const underWay = new Set<Promise<void>>();
  const bugs: unknown[] = [];
  while (!signal.aborted && bugs.length === 0) {
    const recorder = idle.pop();
    if (recorder !== undefined) {
      const ended = operation(recorder)
        .then(() => idle.push(recorder))
        .catch((bug: unknown) => bugs.push(bug))
        .then(() => {
          underWay.delete(ended);
        });
      underWay.add(ended);
    }
    await pause(random.below(intervalMaxMs), signal);
  }
  await Promise.all(underWay);
  if (bugs.length > 0) throw bugs[0];
}

export function newStation({ workload, number, context, signal }: StationOptions): Station {
  const { connectString, options } = context.connect(number);
  const client = createClient(connectString, options);
  // All clients of a run listen to one signal.
  setMaxListeners(0, signal);
  const newRecorder = () => context.history.recorder(workload, number);
  let ear: Recorder | null = null;
  return {
    client,
    newRecorder,
    recorder: newRecorder(),
    tell: (f, value) => {
      ear ??= newRecorder();
      ear.invoke(f, value).ok(value, { zxid: Number(client.lastZxidSeen) });
    },
    random: context.random.fork(`${workload} ${number}`),
    number,
    signal,
  };
}

/** Creates the workload's directory, and in it what `work` makes. */
export async function prepare(
  context: WorkloadContext,
  paths: readonly { readonly path: string; readonly data: string }[] = [],
): Promise<void> {
  const { connectString, options } = context.connect(0);
  const client = createClient(connectString, options);
  try {
    await patiently(() => ensurePath(client, context.prefix));
    for (const { path, data } of paths) await patiently(() => made(client, path, data));
  } finally {
    await client.close();
  }
}

/** Does final steps with a client of their own, whose number follows those of the others. */
export async function atTheEnd(
  options: Omit<StationOptions, 'signal'>,
  last: (station: Station) => Promise<void>,
): Promise<void> {
  const station = newStation({ ...options, signal: new AbortController().signal });
  try {
    await last(station);
  } finally {
    await station.client.close();
  }
}

/** Repeats `attempt` until it returns true; throws if it does not in PATIENCE_MS without faults. */
export async function untilTrue(what: string, attempt: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + PATIENCE_MS;
  while (!(await attempt())) {
    if (performance.now() > endMs) throw new Error(`in vain for ${PATIENCE_MS} ms: ${what}`);
    await pause(TROUBLE_MS);
  }
}

/** Repeats a step that may be done twice, for as long as the ensemble answers with errors. */
async function patiently(step: () => Promise<unknown>): Promise<void> {
  await untilTrue('a step of the preparation', async () => {
    try {
      await step();
      return true;
    } catch (error) {
      if (isAmbiguous(error) === null) throw error;
      return false;
    }
  });
}

async function made(client: Client, path: string, data: string): Promise<void> {
  try {
    await client.create(path, data);
  } catch (error) {
    if (!(error instanceof NodeExistsError)) throw error;
  }
}

/** Resolves after the time, or earlier when the signal aborts. */
export function pause(durationMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, durationMs);
    signal?.addEventListener('abort', end);
    if (signal?.aborted === true) end();
  });
}

/**
 * Znodes `<prefix>/<number>`, of which a new one is used after a number of steps of all clients
 * together. The clients of a workload share them.
 */
export class Keys {
  readonly #stepsEach: number;
  readonly #initial: string;
  readonly #there = new Set<number>();
  #steps = 0;

  constructor(stepsEach: number, initial: string) {
    this.#stepsEach = stepsEach;
    this.#initial = initial;
  }

  /** All keys that were used. */
  get all(): number[] {
    return [...this.#there];
  }

  /** Resolves with the key of the next step once its znode exists; null if it could not be made. */
  async next({ client }: Station, prefix: string): Promise<number | null> {
    const key = Math.floor(this.#steps++ / this.#stepsEach);
    if (this.#there.has(key)) return key;
    try {
      await made(client, `${prefix}/${key}`, this.#initial);
    } catch (error) {
      if (isAmbiguous(error) === null) throw error;
      return null;
    }
    this.#there.add(key);
    return key;
  }
}

/** Gives numbers of which no client gets one twice. */
export class Numbers {
  #last = 0;

  next(): number {
    return ++this.#last;
  }
}

/** Returns the number at the end of a sequential znode's name. */
export function sequenceOf(path: string): number {
  return Number(path.slice(-10));
}
