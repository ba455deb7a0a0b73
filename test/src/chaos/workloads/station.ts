/**
 * What workloads share: a client's loop, with its pauses; the patience of the first and last steps;
 * and keys that change after so many operations, so that each has a short history.
 */
import { setMaxListeners } from 'node:events';
import { type Client, createClient, ensurePath, NodeExistsError } from '@rookery/client';
import type { Random } from '../../simulation/random.js';
import type { Json } from '../history/entry.js';
import type { Recorder } from '../history/history-writer.js';
import { isAmbiguous } from './attempt.js';
import type { WorkloadContext } from './workload.js';

/** Between two operations of a client, at most. */
const PAUSE_MAX_MS = 50;
/** After one that failed. */
const TROUBLE_MS = 50;
/** Until the ensemble must have answered when it is well. */
const PATIENCE_MS = 90_000;

/** What one client works with. */
export interface Station {
  readonly client: Client;
  readonly recorder: Recorder;
  /** For what is done at the same time. */
  readonly newRecorder: () => Recorder;
  readonly random: Random;
  readonly number: number;
  readonly signal: AbortSignal;
  /** Records what happened to it by itself, such as an event: a process of its own, at once. */
  readonly tell: (f: string, value: Json) => void;
}

export interface StationOptions {
  readonly workload: string;
  readonly number: number;
  readonly context: WorkloadContext;
  readonly signal: AbortSignal;
}

/**
 * A turn after the other until the signal aborts; a turn says whether it went well. `besides` is
 * done at the same time, with the same client.
 */
export async function work(
  options: StationOptions,
  turn: (station: Station) => Promise<boolean>,
  besides: (station: Station) => Promise<void> = async () => {},
): Promise<void> {
  const { signal } = options;
  const station = newStation(options);
  const turns = async () => {
    while (!signal.aborted) {
      const isWell = await turn(station);
      await pause(station.random.below(PAUSE_MAX_MS) + (isWell ? 0 : TROUBLE_MS), signal);
    }
  };
  try {
    await Promise.all([turns(), besides(station)]);
  } finally {
    await station.client.close();
  }
}

export interface Stream {
  /** Between the beginnings of two operations, at most. */
  readonly intervalMaxMs: number;
  /** Beyond it none is begun. */
  readonly underWayMax: number;
}

/**
 * Begins operations whether or not earlier ones have been answered, so that some are asked for
 * while a member stands still: what it answers when it goes on is then old, if it should not have
 * answered.
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
  // All clients of a run listen to one.
  setMaxListeners(0, signal);
  const newRecorder = () => context.history.recorder(workload, number);
  let ear: Recorder | null = null;
  return {
    ...{ client, newRecorder, recorder: newRecorder() },
    tell: (f, value) => {
      ear ??= newRecorder();
      ear.invoke(f, value).ok(value, { zxid: Number(client.lastZxidSeen) });
    },
    random: context.random.fork(`${workload} ${number}`),
    ...{ number, signal },
  };
}

/** The workload's directory, and what `work` makes in it. */
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

/** With a client of its own, numbered behind the others; for final steps. */
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

/** Again and again until it says true; throws when it does not for long although all is well. */
export async function untilTrue(what: string, attempt: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + PATIENCE_MS;
  while (!(await attempt())) {
    if (performance.now() > endMs) throw new Error(`in vain for ${PATIENCE_MS} ms: ${what}`);
    await pause(TROUBLE_MS);
  }
}

/** Again and again over errors of the ensemble; for what may be done twice. */
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

/** Returns early when the signal aborts. */
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
 * Znodes `<prefix>/<number>`, a new one after so many turns of all clients together. Shared by the
 * clients of a workload.
 */
export class Keys {
  readonly #turnsEach: number;
  readonly #initial: string;
  readonly #there = new Set<number>();
  #turns = 0;

  constructor(turnsEach: number, initial: string) {
    this.#turnsEach = turnsEach;
    this.#initial = initial;
  }

  /** Of all that were used. */
  get all(): number[] {
    return [...this.#there];
  }

  /** The key of the next turn, with its znode made; null when that could not be done. */
  async next({ client }: Station, prefix: string): Promise<number | null> {
    const key = Math.floor(this.#turns++ / this.#turnsEach);
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

/** Numbers that no client uses twice. */
export class Numbers {
  #last = 0;

  next(): number {
    return ++this.#last;
  }
}

/** The number behind a sequential znode's name. */
export function sequenceOf(path: string): number {
  return Number(path.slice(-10));
}
