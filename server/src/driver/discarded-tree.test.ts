/** The file of a tree that is given up: its lines, its bound, and what happens without a file. */
import { expect, it } from 'vitest';
import { keptLog } from '../simulated/net/fixtures.js';
import { type ChangeSink, ReplicatedState } from '../state/replicated-state.js';
import type { TxnOp } from '../state/txn.js';
import { keepTree } from './discarded.js';
import type { DriverParts } from './parts.js';

const WORLD = [{ perms: 31, scheme: 'world', id: 'anyone' }];
/** What every tree has: the root, /zookeeper and its children. */
const BUILT_IN = new ReplicatedState().tree.nodeCount;

const UNHEARD: ChangeSink = {
  created: () => undefined,
  deleted: () => undefined,
  dataChanged: () => undefined,
};

function creation(path: string, data: Buffer | null): TxnOp {
  return { kind: 'create', path, data, acl: WORLD, mode: 'persistent', ttlMs: 0, opcode: 1 };
}

function apply(state: ReplicatedState, op: TxnOp): void {
  const zxid = state.lastZxid + 1;
  state.apply(zxid, { origin: 1, request: zxid, session: 0, time: 5, op }, UNHEARD);
}

function stateWith(count: number, data: Buffer | null): ReplicatedState {
  const state = new ReplicatedState();
  for (let number = 0; number < count; number++) apply(state, creation(`/n${number}`, data));
  return state;
}

async function kept(state: ReplicatedState, bytesMax?: number) {
  const chunks: string[] = [];
  const log = keptLog();
  const parts = {
    logger: log.logger,
    options: { id: 1 },
    timers: { wallMs: () => 0 },
    keepAside: async (_name: string, given: AsyncIterable<string>) => {
      for await (const chunk of given) chunks.push(chunk);
      return '/kept';
    },
  } as unknown as DriverParts;
  await keepTree(parts, state, bytesMax);
  const lines = chunks.join('').trim().split('\n');
  return { chunks, lines: lines.map((line) => JSON.parse(line)), told: log.lines };
}

it('has every znode once, parents before their children, with its data', async () => {
  const state = stateWith(3, Buffer.from('x'));
  const { lines, told } = await kept(state);
  const [head, ...znodes] = lines;
  expect(head).toMatchObject({ member: 1, digest: state.digest() });
  expect(znodes).toHaveLength(BUILT_IN + 3);
  const paths: string[] = znodes.map(({ path }) => path);
  expect(paths[0]).toBe('/');
  expect(new Set(paths).size).toBe(paths.length);
  for (const [index, path] of paths.entries()) {
    const parent = path.slice(0, path.lastIndexOf('/')) || '/';
    expect(paths.indexOf(parent)).toBeLessThanOrEqual(index);
  }
  const data = Buffer.from('x').toString('base64');
  expect(znodes.find(({ path }) => path === '/n1')).toMatchObject({ data, version: 0 });
  expect(told).toMatchObject([{ level: 50, msg: 'tree.discarded', file: '/kept', leftOut: 0 }]);
});

it('has the cversion that clients see, which counts creates and deletes', async () => {
  const state = stateWith(1, null);
  apply(state, creation('/n0/a', null));
  apply(state, { kind: 'delete', path: '/n0/a' });
  const { lines } = await kept(state);
  expect(lines.find(({ path }) => path === '/n0')).toMatchObject({ cversion: 2 });
});

it('is handed on in parts, ends at its bound, and says how many znodes it leaves out', async () => {
  const count = 1_000;
  const bytesMax = 700_000;
  const { chunks, lines, told } = await kept(stateWith(count, Buffer.alloc(1_500)), bytesMax);
  const bytes = chunks.join('').length;
  expect(chunks.length).toBeGreaterThan(1);
  expect(bytes).toBeGreaterThan(bytesMax - 10_000);
  expect(bytes).toBeLessThan(bytesMax + 10_000);
  const leftOut = BUILT_IN + count - (lines.length - 2);
  expect(leftOut).toBeGreaterThan(0);
  expect(lines.at(-1)).toEqual({ leftOut });
  expect(told).toMatchObject([{ msg: 'tree.discarded', leftOut }]);
});

it('that cannot be written costs a line of the log and nothing else', async () => {
  const log = keptLog();
  const parts = {
    logger: log.logger,
    options: { id: 1 },
    timers: { wallMs: () => 0 },
    keepAside: () => Promise.reject(new Error('no space')),
  } as unknown as DriverParts;
  await keepTree(parts, stateWith(1, null));
  const err = { message: 'no space' };
  expect(log.lines).toMatchObject([{ level: 50, msg: 'tree.discarded_unkept', err }]);
});
