// Tests names that were chosen to collide: in the public hash, where that must not matter at all,
// and in the keyed one, as if the key were known.
import { viewOf } from '@rookery/protocol';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { collidingNames } from '../../simulated/state/colliding-names.js';
import { encodeTxn, proposalOf } from '../../simulated/state/encoded-txn.js';
import { IGNORE_CHANGES, ReplicatedState } from '../replicated-state.js';
import { NO_NODE, type Tree } from '../tree.js';
import type { CreateOp, TxnOp } from '../txn.js';
import { TxnViews } from '../txn-codec.js';
import { NodeStore } from './node-store.js';
import { CHAIN_NODES_MAX } from './path-finder.js';
import { KNOWN_PATH_KEY, PathHash } from './path-hash.js';

const NAMES = 4096;
/** This many bits of the keyed hash are 0. */
const BUCKET_BITS = 13;
const OPEN = [{ perms: 31, scheme: 'world', id: 'anyone' }];

class Member {
  readonly state: ReplicatedState;
  readonly #places = new TxnViews();
  #zxid = 0;

  constructor(key = KNOWN_PATH_KEY) {
    this.state = new ReplicatedState(undefined, key);
  }

  /** Applies from the bytes of a proposal, as members do. */
  apply(op: TxnOp): void {
    const zxid = ++this.#zxid;
    const body = encodeTxn({ origin: 1, request: zxid, session: 0, time: 1000 + zxid, op });
    this.state.apply(zxid, this.#places.txnOf(proposalOf(body)), IGNORE_CHANGES);
  }
  create(path: string, text = ''): void {
    this.apply(createOf(path, text));
  }
  setData(path: string, text: string, version: number): void {
    this.apply({ kind: 'setData', path, data: Buffer.from(text), version });
  }
}

function pathsOfOneBucket(count: number): readonly string[] {
  const hash = new PathHash(KNOWN_PATH_KEY);
  const paths: string[] = [];
  for (let number = 0; paths.length < count; number++) {
    const path = `/${number.toString(36)}`;
    if ((hash.of(path) & ((1 << BUCKET_BITS) - 1)) === 0) paths.push(path);
  }
  return paths;
}

describe('finding znodes', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it('takes as few steps if all names collide in the public hash', () => {
    const member = new Member();
    const reads = vi.spyOn(NodeStore.prototype, 'int');
    const paths = collidingNames(NAMES).map((name) => `/${name}`);
    for (const path of paths) member.create(path);
    // A create reads some thirty fields, each of one row, and none of them for the length of a
    // chain.
    expect(reads.mock.calls.length).toBeLessThan(60 * NAMES);
    reads.mockClear();
    for (const path of paths) expect(member.state.tree.find(path)).not.toBe(NO_NODE);
    expect(reads.mock.calls.length).toBeLessThan(20 * NAMES);
  });

  it('walks a chain of bounded length even if somebody knows the key', () => {
    const member = new Member();
    const { tree } = member.state;
    const paths = pathsOfOneBucket(5 * CHAIN_NODES_MAX);
    const reads = vi.spyOn(NodeStore.prototype, 'int');
    for (const [place, path] of paths.entries()) {
      reads.mockClear();
      // Every second path is given as a string, the others as the bytes of a proposal.
      if (place % 2 === 0) member.create(path, `${place}`);
      else member.apply({ kind: 'multi', ops: [createOf(path, `${place}`)] });
      expect(reads.mock.calls.length).toBeLessThan(40 + 4 * CHAIN_NODES_MAX);
    }
    for (const [place, path] of paths.entries()) {
      expect(Buffer.from(tree.data(tree.find(path)) ?? []).toString()).toBe(`${place}`);
    }
    for (const path of paths.slice(0, 3)) member.apply({ kind: 'delete', path });
    for (const path of paths.slice(-3)) member.apply({ kind: 'delete', path });
    for (const [place, path] of paths.entries()) {
      const isThere = place >= 3 && place < paths.length - 3;
      expect(tree.find(path) !== NO_NODE).toBe(isThere);
    }
    for (const path of paths.slice(3, -3)) member.apply({ kind: 'delete', path });
    expect(member.state.digest()).toBe(digestWithout(paths.length, member.state));
  });

  it('finds the same by bytes as by text while lookups stay in one directory', () => {
    const member = new Member();
    const { tree } = member.state;
    const names = ['k1', 'k22', 'k4444', 'ключ', 'a name of more than 32 bytes, which is long'];
    const directories = ['/', '/dir/', '/dirs/', '/dir/er/', '/dir/путь/', `/${'d'.repeat(300)}/`];
    for (const directory of directories.slice(1)) member.create(directory.slice(0, -1));
    for (const directory of directories) {
      for (const name of names) member.create(`${directory}${name}`);
    }
    const asked = directories.flatMap((directory) => [
      ...names.map((name) => `${directory}${name}`),
      ...['', 'k', 'k1/', '/k1', 'er', 'other'].map((name) => `${directory}${name}`),
    ]);
    for (const directory of directories) {
      for (let time = 0; time < 8; time++) expect(findBytes(tree, `${directory}k1`)).not.toBe(-1);
      for (const path of asked)
        expect([path, findBytes(tree, path)]).toEqual([path, tree.find(path)]);
    }
  });

  it('finds the children of a directory that was deleted and made again', () => {
    const member = new Member();
    const { tree } = member.state;
    member.create('/dir');
    member.create('/dir/k');
    for (let time = 0; time < 8; time++) expect(findBytes(tree, '/dir/k')).not.toBe(NO_NODE);
    const former = tree.find('/dir');
    for (const path of ['/dir/k', '/dir']) member.apply({ kind: 'delete', path });
    expect(findBytes(tree, '/dir/k')).toBe(NO_NODE);
    member.create('/other');
    expect(tree.find('/other')).toBe(former);
    member.create('/dir');
    member.create('/dir/k');
    expect(findBytes(tree, '/dir/k')).toBe(tree.find('/dir/k'));
  });

  it('has no part in the digest, which equals that of old checkpoints', () => {
    const members = [KNOWN_PATH_KEY, { low: 1, high: 2 }].map((key) => new Member(key));
    for (const member of members) {
      member.create('/a', '1');
      member.create('/a/b-0000000001', '22');
      member.create('/straße', '3');
      member.create('/straße/пять', '4');
      member.setData('/a', 'other', 1);
      member.setData('/straße', '', 1);
      member.setData('/straße/пять', 'x', 1);
      member.setData('/', 'root', 1);
      member.create('/zookeeper/quota/a');
      member.create('/zookeeper/quota/a/zookeeper_limits', 'count=5,bytes=100');
      member.create('/zookeeper/quota/a/zookeeper_stats');
      member.create('/a/c', '55555');
      member.apply({ kind: 'delete', path: '/a/b-0000000001' });
    }
    // The digest that a member computed before there was a key.
    for (const { state } of members) expect(state.digest()).toBe('9b68e683d823f9de');
  });
});

function findBytes(tree: Tree, path: string): number {
  const bytes = Buffer.from(`..${path}`);
  return tree.findBytes(viewOf(bytes), 2, bytes.length);
}

function createOf(path: string, text: string): CreateOp {
  const kind = { kind: 'create', mode: 'persistent', ttlMs: 0, opcode: 1 } as const;
  return { ...kind, path, data: Buffer.from(text), acl: OPEN };
}

/** The digest of a state in which this many children of the root were created and deleted. */
function digestWithout(children: number, { lastZxid }: ReplicatedState): string {
  const member = new Member();
  for (let place = 0; place < children; place++) member.create(`/other-${place}`);
  for (let place = 0; place < children; place++) {
    member.apply({ kind: 'delete', path: `/other-${place}` });
  }
  expect(member.state.lastZxid).toBe(lastZxid);
  return member.state.digest();
}
