/**
 * Any state, written as a snapshot of ZooKeeper and restored into directories, is the same state
 * afterwards but for sessions and what they own; and a directory that is not empty is left alone.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeZxid } from '@rookery/protocol';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { loadEnsembleConfig } from '../config/config.js';
import { IGNORE_CHANGES, ReplicatedState } from '../state/replicated-state.js';
import { NO_NODE } from '../state/tree.js';
import type { CreateOp, TxnOp } from '../state/txn.js';
import { openStores, Storage } from '../storage/index.js';
import { readSnapshot, type SnapshotNode, snapshotParts } from '../zookeeper-files/index.js';
import {
  exportedNodes,
  exportedState,
  RestorePlanner,
  readStoppedMember,
  restoreMembers,
} from './index.js';

const SESSION = makeZxid(1, 1);
const OPEN = [{ perms: 31, scheme: 'world', id: 'anyone' }];
const MINE = [{ perms: 3, scheme: 'digest', id: 'user:hash' }];

/** Applies what can be applied; the rest is passed over. */
class Builder {
  readonly state = new ReplicatedState();
  #counter = 0;

  constructor() {
    this.#apply({ kind: 'createSession', timeoutMs: 4000, password: Buffer.alloc(16) });
  }

  create(path: string, size: number, mode: CreateOp['mode']): void {
    const { tree } = this.state;
    const parent = tree.find(path.slice(0, path.lastIndexOf('/')) || '/');
    if (parent === NO_NODE || tree.find(path) !== NO_NODE) return;
    if (tree.mode(parent) === 'ephemeral') return;
    const data = size < 0 ? null : Buffer.alloc(size, path);
    const acl = size % 2 === 0 ? OPEN : MINE;
    const ttlMs = mode === 'ttl' ? 5000 + size : 0;
    this.#apply({ kind: 'create', path, data, acl, mode, ttlMs, opcode: 1 });
  }

  set(path: string, size: number): void {
    const node = this.state.tree.find(path);
    if (node === NO_NODE) return;
    const version = this.state.tree.version(node) + 1;
    this.#apply({ kind: 'setData', path, data: Buffer.alloc(Math.max(0, size)), version });
  }

  remove(path: string): void {
    const { tree } = this.state;
    const node = tree.find(path);
    if (node !== NO_NODE && tree.childCount(node) === 0) this.#apply({ kind: 'delete', path });
  }

  #apply(op: TxnOp): void {
    this.#counter += 1;
    const time = 1_700_000_000_000 + this.#counter;
    const txn = { origin: 1, request: 1, session: SESSION, time, op };
    this.state.apply(makeZxid(1, this.#counter), txn, IGNORE_CHANGES);
  }
}

const path = fc
  .array(fc.constantFrom('a', 'b', 'ü-界'), { minLength: 1, maxLength: 3 })
  .map((names) => `/${names.join('/')}`);
const size = fc.constantFrom(-1, 0, 1, 90, 5000);
const mode = fc.constantFrom<CreateOp['mode']>('persistent', 'ephemeral', 'container', 'ttl');
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('create' as const), path, size, mode }) },
  fc.record({ do: fc.constant('set' as const), path, size, mode }),
  fc.record({ do: fc.constant('remove' as const), path, size, mode }),
);

function bytesOf(state: ReplicatedState): Buffer {
  return Buffer.concat([...snapshotParts(exportedState(state))]);
}

function dataOf({ tree }: ReplicatedState, path: string): string {
  return Buffer.from(tree.data(tree.find(path)) ?? []).toString();
}

/** By path, without what a restore changes: the children that were ephemeral. */
function nodesOf(state: ReplicatedState): Map<string, Omit<SnapshotNode, 'ephemeralOwner'>> {
  const nodes = new Map<string, Omit<SnapshotNode, 'ephemeralOwner'>>();
  for (const { ephemeralOwner, ...node } of exportedNodes(state)) {
    if (ephemeralOwner !== BigInt(SESSION)) nodes.set(node.path, node);
  }
  return nodes;
}

async function newConfig(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'rookery-restore-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const servers = [1, 2, 3].map((id) => ({
    id,
    host: '127.0.0.1',
    clientPort: 20_000 + id,
    peerPort: 21_000 + id,
  }));
  const file = join(directory, 'ensemble.json');
  await writeFile(file, JSON.stringify({ dataDir: 'data', servers }));
  return file;
}

it('any state is the same after a snapshot and a restore, at each member', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (steps) => {
      const builder = new Builder();
      for (const next of steps) {
        if (next.do === 'create') builder.create(next.path, next.size, next.mode);
        else if (next.do === 'set') builder.set(next.path, next.size);
        else builder.remove(next.path);
      }
      const planner = new RestorePlanner();
      const facts = readSnapshot(bytesOf(builder.state), (node) => planner.add(node));
      expect(facts.digest?.kept).toBe(facts.digest?.computed);
      const plan = planner.plan(BigInt(builder.state.lastZxid));
      const config = loadEnsembleConfig(await newConfig());
      const digest = await restoreMembers({ config, ids: [1, 3], ensembleId: 'e', plan });
      for (const id of [1, 3]) {
        const member = await readStoppedMember(config, id);
        expect(member.state.digest()).toBe(digest);
        expect(member.ensembleId).toBe('e');
        expect(member.state.lastZxid).toBe(makeZxid(1001, 0));
        expect(nodesOf(member.state)).toEqual(nodesOf(builder.state));
        expect(member.state.sessions.count).toBe(0);
      }
    }),
    { numRuns: 25 },
  );
});

it('a restore measures what is below each quota anew', () => {
  const builder = new Builder();
  const stats = '/zookeeper/quota/q/zookeeper_stats';
  builder.create('/q', 5, 'persistent');
  builder.create('/q/a', 3, 'persistent');
  builder.create('/q/gone', 100, 'ephemeral');
  builder.create('/zookeeper/quota/q', 0, 'persistent');
  builder.create('/zookeeper/quota/q/zookeeper_limits', 0, 'persistent');
  builder.create(stats, 0, 'persistent');
  const { state } = builder;
  expect(dataOf(state, stats)).toBe('count=3,bytes=108');
  const planner = new RestorePlanner();
  for (const node of exportedNodes(state)) {
    // As in the log of ZooKeeper, which does not have what is counted.
    planner.add(node.path === stats ? { ...node, data: Buffer.from('count=0,bytes=0') } : node);
  }
  expect(dataOf(planner.plan(BigInt(state.lastZxid)).state, stats)).toBe('count=2,bytes=8');
});

it('a directory that is not empty is refused before anything is written', async () => {
  const config = loadEnsembleConfig(await newConfig());
  const used = join(config.dataDir, '2');
  await mkdir(used, { recursive: true });
  await writeFile(join(used, 'something'), 'of somebody');
  const plan = new RestorePlanner().plan(1n);
  const restoring = restoreMembers({ config, ids: [1, 2, 3], ensembleId: 'e', plan });
  await expect(restoring).rejects.toThrow(`${used} is not empty`);
  expect(await readdir(config.dataDir)).toEqual(['2']);
});

it('a directory of a restore that was interrupted is damaged, and founds nothing', async () => {
  const config = loadEnsembleConfig(await newConfig());
  const builder = new Builder();
  builder.create('/a', 10, 'persistent');
  const planner = new RestorePlanner();
  for (const node of exportedNodes(builder.state)) planner.add(node);
  const plan = planner.plan(BigInt(builder.state.lastZxid));
  const cut = Object.create(plan, {
    zxid: {
      get: () => {
        throw new Error('the process is killed here');
      },
    },
  });
  const restoring = restoreMembers({ config, ids: [1, 3], ensembleId: 'e', plan: cut });
  await expect(restoring).rejects.toThrow('is killed here');
  for (const memberId of [1, 3]) {
    const stores = await openStores({ ...config, memberId });
    const loader = new ReplicatedState();
    const opened = await Storage.open({ ...stores, memberId, randomBytes, loader });
    expect(opened.recovered.damaged).toContain('has not ended');
    expect(opened.recovered.founded).toBe(false);
    await opened.storage.close();
  }
});

it('what Rookery cannot hold is said before anything is written', () => {
  const builder = new Builder();
  const [root] = exportedNodes(builder.state);
  if (root === undefined) throw new Error('there is a root');
  const plan = (node: Partial<SnapshotNode>, lastZxid = 1n) => {
    return () => {
      const planner = new RestorePlanner();
      planner.add({ ...root, ...node });
      planner.plan(lastZxid);
    };
  };
  expect(plan({ path: '/a/../b' })).toThrow('the path "/a/../b" cannot be restored');
  expect(plan({ czxid: 2n ** 60n })).toThrow('not from 0 to 2^53');
  expect(plan({}, 0x1f_fff0n << 32n)).toThrow('the epoch of the last zxid is 2097136');
});
