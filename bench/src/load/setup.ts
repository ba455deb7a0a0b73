/**
 * Creates the znodes that a workload needs, with a few connections of its own.
 *
 * It resolves when all of them exist, and throws at the first error. That does not mean that a
 * load's own connections see them: each must `sync` first (`syncSource`), because its member may
 * lag.
 */
import { OpCode, PathRequest, unreachable } from '@rookery/protocol';
import { LoadConnection } from './connection.js';
import type { Host } from './dial.js';
import { frameOf } from './frames.js';
import {
  directoryCount,
  directoryPath,
  hotPath,
  type KeySpace,
  keyPath,
  parentPath,
} from './key-space.js';
import { OneFrameSource } from './one-frame-source.js';
import { Recorder } from './recorder.js';
import { CreateOnceSource, type RequestSource, type Workload } from './workloads.js';

export interface SetUp {
  readonly hosts: readonly Host[];
  readonly workload: Workload;
  readonly space: KeySpace;
  readonly connections: number;
}

const WINDOW = 250;
const READ_BYTES = 64 * 1024;
const SESSION_TIMEOUT_MS = 30_000;
const TIMEOUT_MS = 600_000;

export async function setUp(options: SetUp): Promise<void> {
  const paths = pathsOf(options);
  if (paths.length === 0) return;
  const recorder = new Recorder();
  const connection = await connectAnywhere(options.hosts, recorder);
  await runToEnd(connection, new CreateOnceSource(paths, options.space.valueBytes), recorder);
  await connection.close();
}

/** Connects to the first host that grants a session, because a member may be down. */
async function connectAnywhere(
  hosts: readonly Host[],
  recorder: Recorder,
): Promise<LoadConnection> {
  let cause: unknown;
  for (const host of hosts) {
    const connection = new LoadConnection({
      host,
      window: WINDOW,
      session: null,
      sessionTimeoutMs: SESSION_TIMEOUT_MS,
      recorder,
      readMemory: Buffer.allocUnsafeSlow(READ_BYTES),
      onLost: () => undefined,
      onEvent: () => undefined,
    });
    try {
      await connection.connected();
      return connection;
    } catch (error) {
      cause = error;
    }
  }
  throw new Error('no host grants a session', { cause });
}

/** Sends all requests of a source; throws if any is refused or lost. */
export async function runToEnd(
  connection: LoadConnection,
  source: RequestSource,
  recorder: Recorder,
): Promise<void> {
  connection.start(source);
  const isDone = await connection.drained(TIMEOUT_MS);
  const { errors, lostConnections } = recorder;
  if (isDone && errors.size === 0 && lostConnections === 0) return;
  const what = JSON.stringify(Object.fromEntries(errors));
  throw new Error(`the setup failed: ${what}, ${lostConnections} connections lost`);
}

/** In the order in which they must be created. */
export function pathsOf({ workload, space, connections }: SetUp): readonly string[] {
  const directories = () =>
    Array.from({ length: directoryCount(space) }, (_, index) => directoryPath(space, index));
  switch (workload.kind) {
    case 'mix':
    case 'multi': {
      const keys = Array.from({ length: space.keys }, (_, key) => keyPath(space, key));
      return [space.root, ...directories(), ...keys];
    }
    case 'fill':
      return [space.root, ...directories()];
    case 'create':
    case 'createDelete': {
      const parents = Array.from({ length: connections }, (_, index) => parentPath(space, index));
      return [space.root, ...parents];
    }
    case 'createHot':
      return [space.root, hotPath(space)];
    case 'getChildren':
    case 'getPage':
      return [];
    default:
      return unreachable(workload);
  }
}

/** Sends one sync: after it, the connection's member shows everything that was committed before. */
export function syncSource(path: string): RequestSource {
  return new OneFrameSource(frameOf(OpCode.sync, PathRequest, { path }));
}
