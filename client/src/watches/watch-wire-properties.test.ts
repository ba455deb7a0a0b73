/**
 * Registry and operations over a modelled server, both streams moved one message at a time, so that
 * reads, removals, changes and lost connections cross in every order.
 *
 * When all is quiet: who still waits has seen the present state (no lost wake-up) and the server
 * would tell it of the next change; nobody was told of what its read had shown; a modern server
 * keeps no persistent watch that nobody needs.
 */
import type { WatcherType } from '@rookery/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { WatchHandle } from '../api/client.js';
import type { Watcher } from '../api/values.js';
import { type Change, type Message, ModelWatchServer } from '../testing/model-watch-server.js';
import { type WatchChannel, WatchOperations } from './watch-operations.js';
import { WatchRegistry } from './watch-registry.js';

const PATHS = ['/a', '/b'];
const CHANGES: readonly Change[] = ['created', 'deleted', 'dataChanged', 'childrenChanged'];

interface Wait {
  readonly path: string;
  readonly kind: 'data' | 'exist' | 'child';
  /** The mzxid or pzxid that the read showed; 0 for a znode that does not exist. */
  readonly shown: number;
  /** The zxid of the reply. */
  readonly zxid: number;
  readonly watcher: Watcher;
  standing: boolean;
}

class World implements WatchChannel {
  readonly registry = new WatchRegistry();
  readonly server: ModelWatchServer;
  readonly operations = new WatchOperations(this.registry, this);
  readonly waits: Wait[] = [];
  readonly handles: WatchHandle[] = [];
  lastZxid = 0;

  constructor(legacy: boolean) {
    const onEvent = this.registry.onEvent.bind(this.registry);
    this.server = new ModelWatchServer({ legacy, onEvent });
    for (const path of PATHS) this.server.mutate('created', path);
  }

  get lastZxidSeen(): bigint {
    return BigInt(this.lastZxid);
  }

  get connected(): boolean {
    return this.server.connected;
  }

  read(table: 'data' | 'child', path: string): void {
    this.registry.begin('read', path);
    const message: Message = {
      process: (server) => {
        const node = server.nodes.get(path);
        if (table === 'data' || node !== undefined) server.watchRead(table, path);
        const { zxid } = server;
        return () => {
          this.lastZxid = Math.max(this.lastZxid, zxid);
          if (node !== undefined) {
            this.#wait(path, table, table === 'data' ? node.mzxid : node.pzxid, zxid);
          } else if (table === 'data') {
            this.#wait(path, 'exist', 0, zxid);
          }
          this.registry.end('read', path);
        };
      },
      fail: () => this.registry.end('read', path),
    };
    this.server.send(message);
    this.operations.keepPersistent(path, table);
  }

  #wait(path: string, kind: Wait['kind'], shown: number, zxid: number): void {
    const watcher: Watcher = (event) => {
      expect(wait.standing, 'called again, or after it was taken back').toBe(true);
      wait.standing = false;
      if ('zxid' in event && event.zxid !== null) expect(event.zxid).toBeGreaterThan(zxid);
    };
    const wait: Wait = { path, kind, shown, zxid, watcher, standing: true };
    this.waits.push(wait);
    this.registry.add(kind, path, watcher);
  }

  takeBack(index: number): void {
    const standing = this.waits.filter((wait) => wait.standing);
    const wait = standing[index % standing.length];
    if (wait === undefined) return;
    wait.standing = false;
    this.operations.removeWatcher(wait.path, wait.watcher);
  }

  addWatch({ path, mode }: { path: string; mode: number }, _: object, onDone: () => void) {
    return this.#request(onDone, (server) => {
      server.addWatch(path, mode);
      return null;
    });
  }

  removeWatches({ path, type }: { path: string; type: number }, _: object, onDone: () => void) {
    return this.#request(onDone, (server) => server.removeWatches(path, type));
  }

  checkWatches(): Promise<void> {
    return Promise.reject(new Error('not asked for'));
  }

  #request(onDone: () => void, run: (server: ModelWatchServer) => Error | null): Promise<void> {
    return new Promise((resolve, reject) => {
      this.server.send({
        process: (server) => {
          const error = run(server);
          const { zxid } = server;
          return () => {
            this.lastZxid = Math.max(this.lastZxid, zxid);
            if (error !== null) return reject(error);
            onDone();
            resolve();
          };
        },
        fail: reject,
      });
    });
  }

  watch(path: string, recursive: boolean): void {
    this.operations
      .addWatch(path, () => undefined, { recursive })
      .then(
        (handle) => this.handles.push(handle),
        () => undefined,
      );
  }

  unwatch(index: number): void {
    const [handle] = this.handles.splice(index % this.handles.length, 1);
    if (handle === undefined) return;
    void handle.remove();
  }

  removeType(path: string, type: WatcherType): void {
    this.operations.removeWatches(path, type).catch(() => undefined);
  }

  cut(): void {
    this.server.cut();
  }

  reconnect(): void {
    if (this.connected) return;
    const rearm = this.registry.rearm(BigInt(this.lastZxid), 10);
    this.server.reconnect(rearm, ({ zxid, isLast }) => {
      this.lastZxid = Math.max(this.lastZxid, zxid);
      if (isLast) this.registry.onRearmed();
    });
    this.registry.onResumed();
  }

  lose(): void {
    this.cut();
    for (const message of this.server.unsent.splice(0)) message.fail(new Error('expired'));
    this.registry.onSessionLost();
  }

  async settle(): Promise<void> {
    this.reconnect();
    const { requests, frames } = this.server;
    do {
      while (requests.length > 0) this.server.processNext();
      while (frames.length > 0) this.server.deliverNext();
      await turn();
    } while (requests.length > 0 || frames.length > 0);
  }

  check(legacy: boolean): void {
    const { server, registry } = this;
    expect(registry.pendingCount).toBe(0);
    for (const wait of this.waits.filter(({ standing }) => standing)) {
      const node = server.nodes.get(wait.path);
      const present = wait.kind === 'child' ? node?.pzxid : node?.mzxid;
      expect(present ?? 0, 'a lost wake-up').toBe(wait.shown);
      const table = wait.kind === 'child' ? 'child' : 'data';
      expect(server.hears(table, wait.path), `${wait.kind} ${wait.path} is deaf`).toBe(true);
    }
    for (const path of PATHS) {
      const modes = registry.persistentModesAt(path);
      for (const recursive of [false, true]) {
        const mode = recursive ? 'recursive' : 'persistent';
        const stands = modes.includes(recursive);
        if (stands || !legacy) expect(server.has(mode, path), `${mode} ${path}`).toBe(stands);
      }
    }
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

const path = fc.constantFrom(...PATHS);
const step = (name: string, weight: number, ...parts: fc.Arbitrary<unknown>[]) => ({
  weight,
  arbitrary: fc.tuple(fc.constant(name), ...parts),
});
const steps = fc.array(
  fc.oneof(
    step('read', 6, path, fc.constantFrom('data', 'child')),
    step('takeBack', 4, fc.nat(30)),
    step('watch', 3, path, fc.boolean()),
    step('unwatch', 3, fc.nat(10)),
    step('removeType', 1, path, fc.constantFrom(1, 2, 3, 4, 5)),
    step('mutate', 8, path, fc.constantFrom(...CHANGES)),
    step('process', 10),
    step('deliver', 10),
    step('cut', 1),
    step('reconnect', 3),
    step('lose', 1),
    step('turn', 5),
  ),
  { minLength: 40, maxLength: 120 },
);

/** On a legacy server a path has one mode, and who asks for two gets the last: not asked here. */
async function play(world: World, [name, ...parts]: unknown[], legacy: boolean): Promise<void> {
  const at = String(parts[0]);
  switch (name) {
    case 'read':
      if (legacy && at === '/b') return world.read('data', at);
      return world.read(parts[1] === 'data' ? 'data' : 'child', at);
    case 'takeBack':
      return world.takeBack(Number(parts[0]));
    case 'watch':
      return world.watch(at, legacy ? at === '/b' : parts[1] === true);
    case 'unwatch':
      return world.unwatch(Number(parts[0]));
    case 'removeType': {
      const type = parts[1];
      if (legacy || (type !== 1 && type !== 2 && type !== 3 && type !== 4 && type !== 5)) return;
      return world.removeType(at, type);
    }
    case 'mutate':
      return world.server.mutate(CHANGES.find((one) => one === parts[1]) ?? 'created', at);
    case 'process':
      return world.server.processNext();
    case 'deliver':
      return world.server.deliverNext();
    case 'cut':
      return world.cut();
    case 'reconnect':
      return world.reconnect();
    case 'lose':
      return world.lose();
    case 'turn':
      return await turn();
    default:
      throw new Error(`no step ${String(name)}`);
  }
}

test.for([
  ['modern', false],
  ['legacy', true],
] as const)('no wake-up is lost and no watch forgotten at a %s server', async ([, legacy]) => {
  await fc.assert(
    fc.asyncProperty(steps, async (played) => {
      const world = new World(legacy);
      for (const one of played) await play(world, one, legacy);
      await world.settle();
      world.check(legacy);
      world.registry.onClosed();
      expect(world.registry.size).toBe(0);
      expect(world.waits.some(({ standing }) => standing)).toBe(false);
    }),
    { numRuns: 1_000 },
  );
});
