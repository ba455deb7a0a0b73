#!/usr/bin/env node
/**
 * `npm run bench:client`: what @rookery/client costs the process that uses it. Processor time per
 * pipelined getData, heap per watch.
 *
 * Runs against the servers that are given, or against three members of its own. Processor time is
 * that of the whole process, user and system, garbage collection and all; the first round, in which
 * the code is compiled, is not counted. Heap is measured after full collections, before and after.
 * Exit code 1 when a budget is exceeded.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Client, connect, deleteRecursive, ensurePath, type Node } from '@rookery/client';
import { Ensemble } from './ensemble.js';
import { runCommand, UsageError, wholeOption } from './options.js';

const USAGE = `Usage: node --expose-gc bench/dist/client-cost.js
  --connect host:port[,host:port...]   (default: three members, started for the run)
  --base-port 43100   --calls 100000   --rounds 5   --watches 10000   --bytes 100`;

const CALL_US_MAX = 10;
const WATCH_BYTES_MAX = 1024;
/** Calls at a time in the second measurement, as of a program that bounds what it has in flight. */
const WINDOW = 1000;
const DIRECTORY = '/client-cost';

interface Settings {
  readonly calls: number;
  readonly rounds: number;
  readonly watches: number;
  readonly bytes: number;
}

await runCommand(USAGE, main);

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      connect: { type: 'string' },
      'base-port': { type: 'string', default: '43100' },
      calls: { type: 'string', default: '100000' },
      rounds: { type: 'string', default: '5' },
      watches: { type: 'string', default: '10000' },
      bytes: { type: 'string', default: '100' },
    },
  });
  if (globalThis.gc === undefined) throw new UsageError('start node with --expose-gc');
  const settings = {
    calls: wholeOption('calls', values.calls, { min: WINDOW, max: 100_000 }),
    rounds: wholeOption('rounds', values.rounds, { min: 1, max: 1000 }),
    watches: wholeOption('watches', values.watches, { min: 1, max: 100_000 }),
    bytes: wholeOption('bytes', values.bytes, { min: 0, max: 1_000_000 }),
  };
  if (values.connect !== undefined) return await measure(values.connect, settings);
  const basePort = wholeOption('base-port', values['base-port'], { min: 1024, max: 65_000 });
  const directory = mkdtempSync(join(tmpdir(), 'rookery-client-cost-'));
  const system = 'rookery';
  const ensemble = await Ensemble.start({ system, directory, basePort, profileDirectory: null });
  try {
    await measure(ensemble.hosts.map(({ host, port }) => `${host}:${port}`).join(','), settings);
  } finally {
    await ensemble.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function measure(connectString: string, settings: Settings): Promise<void> {
  const client = await connect(connectString, { outstandingMax: 100_000 });
  try {
    await ensurePath(client, DIRECTORY);
    await measureCalls(client, settings);
    await measureWatches(client, settings);
  } finally {
    await deleteRecursive(client, DIRECTORY);
    await client.close();
  }
}

async function measureCalls(client: Client, settings: Settings): Promise<void> {
  const { calls, rounds, bytes } = settings;
  const path = `${DIRECTORY}/node`;
  await client.create(path, Buffer.alloc(bytes, 'x'));
  for (const window of [calls, WINDOW]) {
    const costs: number[] = [];
    for (let round = 0; round <= rounds; round++) {
      const before = process.cpuUsage();
      const bytesRead = await readInWindows(client, path, calls, window);
      const { user, system } = process.cpuUsage(before);
      if (bytesRead !== calls * bytes) throw new Error(`${bytesRead} bytes came`);
      if (round > 0) costs.push((user + system) / calls);
    }
    costs.sort((left, right) => left - right);
    const median = costs[Math.floor(costs.length / 2)] ?? Number.NaN;
    const range = `${costs[0]?.toFixed(2)} to ${costs.at(-1)?.toFixed(2)}`;
    report(
      `${calls} getData of ${bytes} B, ${window} in flight: ${median.toFixed(2)} us of CPU a call ` +
        `(median of ${rounds}, ${range}; budget ${CALL_US_MAX})`,
      median < CALL_US_MAX,
    );
  }
}

async function readInWindows(
  client: Client,
  path: string,
  calls: number,
  window: number,
): Promise<number> {
  let bytesRead = 0;
  for (let done = 0; done < calls; done += window) {
    const pending: Promise<Node>[] = [];
    for (let index = done; index < Math.min(done + window, calls); index++) {
      pending.push(client.getData(path));
    }
    for (const { data } of await Promise.all(pending)) bytesRead += data?.length ?? 0;
  }
  return bytesRead;
}

/** Each on a path of its own, with a function of its own, as an application has them. */
async function measureWatches(client: Client, { watches }: Settings): Promise<void> {
  await watchAll(client, 'warm-up', 100);
  const before = heapBytes();
  const heard = await watchAll(client, 'watched', watches);
  const bytes = (heapBytes() - before) / watches;
  report(
    `${watches} watches: ${bytes.toFixed(0)} B of heap each, path and function included ` +
      `(budget ${WATCH_BYTES_MAX})`,
    bytes < WATCH_BYTES_MAX,
  );
  if (client.watchCount !== watches + 100 || heard.length > 0) {
    throw new Error(`${client.watchCount} watches stand, ${heard.length} were called`);
  }
}

async function watchAll(client: Client, name: string, count: number): Promise<readonly string[]> {
  const heard: string[] = [];
  const pending = Array.from({ length: count }, async (_, index) => {
    const path = `${DIRECTORY}/${name}-${String(index).padStart(10, '0')}`;
    await client.exists(path, { watcher: (event) => heard.push(event.path) });
  });
  await Promise.all(pending);
  return heard;
}

/** Of everything alive, buffers outside of the heap included. */
function heapBytes(): number {
  for (let pass = 0; pass < 3; pass++) globalThis.gc?.();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return heapUsed + external + arrayBuffers;
}

function report(line: string, isWithinBudget: boolean): void {
  process.stdout.write(`${isWithinBudget ? 'ok      ' : 'EXCEEDED'} ${line}\n`);
  if (!isWithinBudget) process.exitCode = 1;
}
