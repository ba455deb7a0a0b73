/**
 * What @rookery/client costs the process that uses it: processor time for each pipelined getData,
 * and heap for each watch.
 *
 * Processor time is that of the whole process, user and system, garbage collection included; the
 * first pass, in which the code is compiled, is not counted. Heap is measured after full
 * collections, before and after, so the process needs --expose-gc.
 */
import { type Client, connect, deleteRecursive, ensurePath, type Node } from '@rookery/client';

export interface ClientCostOptions {
  readonly connectString: string;
  readonly calls: number;
  readonly watches: number;
  readonly valueBytes: number;
}

export interface ClientCost {
  /** Microseconds for each call, when all calls are made at once. */
  readonly callUs: number;
  /**
   * The same with a thousand calls at a time, as in a program that bounds what it has in flight.
   */
  readonly windowedCallUs: number;
  readonly watchBytes: number;
}

const WINDOW = 1000;
const DIRECTORY = '/client-cost';
const WARM_UP_WATCHES = 100;

export async function measureClientCost(options: ClientCostOptions): Promise<ClientCost> {
  if (globalThis.gc === undefined) throw new Error('the process was started without --expose-gc');
  const client = await connect(options.connectString, { outstandingMax: 100_000 });
  try {
    await ensurePath(client, DIRECTORY);
    const path = `${DIRECTORY}/node`;
    await client.create(path, Buffer.alloc(options.valueBytes, 'x'));
    return {
      callUs: await callCostUs(client, path, { ...options, window: options.calls }),
      windowedCallUs: await callCostUs(client, path, { ...options, window: WINDOW }),
      watchBytes: await watchCostBytes(client, options.watches),
    };
  } finally {
    await deleteRecursive(client, DIRECTORY);
    await client.close();
  }
}

type Calls = ClientCostOptions & { readonly window: number };

async function callCostUs(client: Client, path: string, calls: Calls): Promise<number> {
  await readInWindows(client, path, calls);
  const before = process.cpuUsage();
  const bytesRead = await readInWindows(client, path, calls);
  const { user, system } = process.cpuUsage(before);
  if (bytesRead !== calls.calls * calls.valueBytes) throw new Error(`${bytesRead} bytes came`);
  return (user + system) / calls.calls;
}

async function readInWindows(client: Client, path: string, calls: Calls): Promise<number> {
  let bytesRead = 0;
  for (let done = 0; done < calls.calls; done += calls.window) {
    const pending: Promise<Node>[] = [];
    for (let index = done; index < Math.min(done + calls.window, calls.calls); index++) {
      pending.push(client.getData(path));
    }
    for (const { data } of await Promise.all(pending)) bytesRead += data?.length ?? 0;
  }
  return bytesRead;
}

/** Each watch is on a path of its own and has a function of its own, as in an application. */
async function watchCostBytes(client: Client, watches: number): Promise<number> {
  await watchAll(client, 'warm-up', WARM_UP_WATCHES);
  const before = heapBytes();
  const heard = await watchAll(client, 'watched', watches);
  const bytes = (heapBytes() - before) / watches;
  if (client.watchCount !== watches + WARM_UP_WATCHES || heard.length > 0) {
    throw new Error(`${client.watchCount} watches are set, ${heard.length} were called`);
  }
  return bytes;
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

/** The bytes of everything that is alive, including buffers outside of the heap. */
function heapBytes(): number {
  for (let pass = 0; pass < 3; pass++) globalThis.gc?.();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return heapUsed + external + arrayBuffers;
}
