/**
 * Goal: cover what the property tests do not reach: many nodes, long names, and damaged
 * checkpoints.
 */
import { JuteReader, JuteWriter, Stat, viewOf } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { DamagedCheckpointError } from './damage.js';
import { DIGEST_INTS } from './memory/node-store.js';
import { BLOCK_FORMAT, RECORD } from './node-record.js';
import { BlockReader, blockKey } from './record-blocks.js';
import { type CheckpointRecord, IGNORE_CHANGES, ReplicatedState } from './replicated-state.js';
import { NO_NODE } from './tree.js';
import type { CreateOp, TxnOp } from './txn.js';

const OPEN = [{ perms: 31, scheme: 'world', id: 'anyone' }];
const FRESH_DIGEST = '10f67eedff26d7cf';
const BASE_DIGEST = '0b8b5c69607cd5a7';

function createOp(path: string, data: Uint8Array | null = null): CreateOp {
  return { kind: 'create', path, data, acl: OPEN, mode: 'persistent', ttlMs: 0, opcode: 1 };
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
}

class Applier {
  readonly state = new ReplicatedState();
  #zxid = 0;
  apply(op: TxnOp, session = 0): number {
    const zxid = ++this.#zxid;
    this.state.apply(zxid, { origin: 1, request: 1, session, time: 5, op }, IGNORE_CHANGES);
    return zxid;
  }
  capture(): CheckpointRecord[] {
    this.state.freeze(1 << 17);
    const records: CheckpointRecord[] = [];
    while (!this.state.captureDone) {
      records.push(...this.state.captureSome(100, 1 << 20));
    }
    return records;
  }
}

describe('a tree of many nodes', () => {
  it('finds all znodes that exist and none that was deleted', () => {
    const applier = new Applier();
    const { state } = applier;
    const count = 5000;
    for (let i = 0; i < count; i++) {
      applier.apply(createOp(`/n${i}`));
    }
    for (let i = 0; i < count; i += 2) {
      applier.apply({ kind: 'delete', path: `/n${i}` });
    }
    for (let i = 0; i < count; i++) {
      expect(state.tree.find(`/n${i}`) !== NO_NODE).toBe(i % 2 === 1);
    }
    expect(state.tree.children(0)).toHaveLength(count / 2 + 1);
    expect(state.tree.stat(0).cversion).toBe(count + count / 2 - 1);
  });

  it('finds none at the empty path, not even the one that was found last and then deleted', () => {
    const applier = new Applier();
    applier.apply(createOp('/a'));
    applier.apply({ kind: 'delete', path: '/a' });
    expect(applier.state.tree.find('')).toBe(NO_NODE);
  });
});

describe('the node that was found last', () => {
  it('is found by its own path only, and no longer once it or another is deleted', () => {
    const applier = new Applier();
    const { tree } = applier.state;
    for (const path of ['/a', '/b']) applier.apply(createOp(path));
    expect(tree.find('')).toBe(NO_NODE);
    for (const gone of ['/a', '/b']) {
      expect(tree.find('/a') === NO_NODE).toBe(gone === '/b');
      applier.apply({ kind: 'delete', path: gone });
      expect(tree.find(gone)).toBe(NO_NODE);
      expect(tree.find('')).toBe(NO_NODE);
    }
    applier.apply(createOp('/c'));
    expect(tree.find('/a')).toBe(NO_NODE);
    expect(tree.path(tree.find('/c'))).toBe('/c');
  });
});

describe('a path that is still bytes', () => {
  it('leads to the node that its string leads to, whatever the script', () => {
    const applier = new Applier();
    const { tree } = applier.state;
    const made = ['/a', '/a/b', '/a/bb', '/größe', '/größe/k1', '/a/日本', '/a/日本/b'];
    for (const path of made) applier.apply(createOp(path));
    const others = [
      '',
      '/',
      '//',
      'a',
      '/a/',
      '/b',
      '/a/b/b',
      '/aa/b',
      '/gr',
      '/a/b\0',
      '/grÃ¶Ã\u009fe',
    ];
    for (const path of [...made, ...others]) {
      const bytes = viewOf(Buffer.from(`/x${path}/y`));
      expect(tree.findBytes(bytes, 2, bytes.byteLength - 2), path).toBe(tree.find(path));
    }
    // Bytes that are no UTF-8, but are the UTF-16 units of a name.
    const units = viewOf(Buffer.from('/gr\u00f6\u00dfe', 'latin1'));
    expect(tree.findBytes(units, 0, units.byteLength)).toBe(NO_NODE);
  });
});

describe('a node', () => {
  it('is written to the wire as its records say', () => {
    const applier = new Applier();
    const { tree } = applier.state;
    applier.apply(createOp('/a', new Uint8Array([1, 2, 3])));
    for (const name of ['plain', 'größe', '日本']) {
      applier.apply(createOp(`/a/${name}`));
    }
    const a = tree.find('/a');
    const writer = new JuteWriter();
    tree.writeStat(a, writer);
    tree.writeData(a, writer);
    tree.writeData(tree.find('/a/plain'), writer);
    tree.writeChildren(a, writer);
    const reader = new JuteReader(writer.take());
    expect(Stat.read(reader)).toEqual(tree.stat(a));
    expect([...(reader.buffer() ?? [])]).toEqual([1, 2, 3]);
    expect(reader.buffer()).toBeNull();
    expect(reader.int()).toBe(3);
    const names = [reader.string(), reader.string(), reader.string()];
    expect(names.sort()).toEqual(['größe', 'plain', '日本'].sort());
    expect(reader.remaining).toBe(0);
  });

  it('may have a name and data of a megabyte', () => {
    const applier = new Applier();
    const { tree } = applier.state;
    const path = `/${'n'.repeat(1_000_000)}`;
    applier.apply(createOp(path, new Uint8Array(1_000_000).fill(9)));
    expect(tree.path(tree.find(path))).toBe(path);
    expect(tree.data(tree.find(path))?.every((byte) => byte === 9)).toBe(true);
    applier.apply({ kind: 'setData', path, data: null, version: 1 });
    expect(tree.data(tree.find(path))).toBeNull();
    applier.apply({ kind: 'delete', path });
    expect(tree.payloadBytesReserved).toBeLessThan(1 << 20);
  });

  it('that was deleted is not read any more', () => {
    const applier = new Applier();
    applier.apply(createOp('/a'));
    const node = applier.state.tree.find('/a');
    applier.apply({ kind: 'delete', path: '/a' });
    expect(() => applier.state.tree.stat(node)).toThrow('live node');
    expect(() => applier.state.tree.stat(NO_NODE)).toThrow('live node');
  });
});

describe('the digest', () => {
  const base: TxnOp[] = [createOp('/a', new Uint8Array(9)), createOp('/b')];
  const digestAfter = (ops: readonly TxnOp[]) => {
    const applier = new Applier();
    for (const op of ops) {
      applier.apply(op);
    }
    return applier.state.digest();
  };

  it('is 16 hex digits that never change for the same content', () => {
    expect(new ReplicatedState().digest()).toBe(FRESH_DIGEST);
    expect(digestAfter(base)).toBe(BASE_DIGEST);
  });

  it('differs when any part of the content differs', () => {
    const acl = [{ perms: 1, scheme: 'world', id: 'anyone' }];
    const password = new Uint8Array(16);
    const variants: TxnOp[][] = [
      base,
      [createOp('/a', new Uint8Array(8)), createOp('/b')],
      [createOp('/a', new Uint8Array(9).fill(1, 8)), createOp('/b')],
      [createOp('/b', new Uint8Array(9)), createOp('/a')],
      [createOp('/a', new Uint8Array(9)), createOp('/b', new Uint8Array(0))],
      [createOp('/a', new Uint8Array(9)), createOp('/a/b')],
      [createOp('/a', new Uint8Array(9)), { ...createOp('/b'), acl }],
      [createOp('/a', new Uint8Array(9)), { ...createOp('/b'), mode: 'container' }],
      [createOp('/a', new Uint8Array(9)), { ...createOp('/b'), mode: 'ttl', ttlMs: 5 }],
      [createOp('/a', new Uint8Array(9)), { ...createOp('/b'), mode: 'ttl', ttlMs: 6 }],
      [...base, { kind: 'setData', path: '/b', data: null, version: 1 }],
      [...base, { kind: 'setAcl', path: '/b', acl: OPEN, version: 1 }],
      [...base, { kind: 'createSession', timeoutMs: 4000, password }],
      [...base, { kind: 'createSession', timeoutMs: 4001, password }],
      [...base, { kind: 'createSession', timeoutMs: 4000, password: password.fill(1) }],
    ];
    const digests = new Set(variants.map(digestAfter));
    expect(digests.size).toBe(variants.length - 1);
  });
});

describe('recovery', () => {
  const applier = new Applier();
  const session = applier.apply({
    kind: 'createSession',
    timeoutMs: 4000,
    password: new Uint8Array(16),
  });
  applier.apply(createOp('/a'));
  applier.apply(createOp('/a/b', new Uint8Array(100)));
  applier.apply({ ...createOp('/a/e'), mode: 'ephemeral' }, session);
  const records = applier.capture();
  const keyOf = (record: CheckpointRecord) => Buffer.from(record.key).toString('latin1');
  const blocks = records.filter((record) => keyOf(record)[0] === 'p');
  const renumbered = ({ value }: CheckpointRecord) => ({ key: Buffer.from('p\0\0\0\x07'), value });
  /**
   * The records of the only block: the four that a state begins with, then those that were created.
   */
  const deadKey = (bits: number, length = 1) => ({
    key: Buffer.from('d\0\0\0\x01'),
    value: Buffer.alloc(length, bits),
  });
  const load = (some: readonly CheckpointRecord[]) => {
    const state = new ReplicatedState();
    for (const { key, value } of some) {
      state.load(key, value ?? new Uint8Array(0));
    }
    state.finishLoad({ zxid: 4, lastTime: 5 });
    return state;
  };

  it('of all records gives the state that was captured', () => {
    expect(load(records).digest()).toBe(applier.state.digest());
    expect(load(records).lastZxid).toBe(4);
  });

  it('of no record gives a fresh state, which is still to be captured', () => {
    const state = new ReplicatedState();
    state.finishLoad({ zxid: 0, lastTime: 0 });
    expect(state.digest()).toBe(FRESH_DIGEST);
    expect(state.dirtyCount).toBe(4);
  });

  it.each([
    ['a node', [deadKey(0b1000_0000), ...records]],
    ['a parent', [deadKey(0b0001_0000), ...records]],
    ['a system node', [deadKey(0b0000_0100), ...records]],
    ['the session of an ephemeral', records.filter((record) => keyOf(record)[0] !== 's')],
    ['nothing, but has a block twice', [...records, ...blocks]],
    ['nothing, but has a node twice', [...records, ...blocks.map(renumbered)]],
    ['nothing, but has a record of no kind', [...records, { key: Buffer.from('x'), value: null }]],
    [
      'a block with dead records',
      [{ key: Buffer.from('d\0\0\0\t'), value: Buffer.of(1) }, ...records],
    ],
    ['nothing, but says that a record is dead that it has not', [deadKey(0, 2), ...records]],
  ])('refuses a checkpoint that lacks %s', (_, some) => {
    expect(() => load(some)).toThrow(DamagedCheckpointError);
  });

  it('refuses a record that tells of no children where there are some', () => {
    const [block] = blocks;
    let parents = 0;
    for (const reader = new BlockReader(block?.value ?? new Uint8Array(0)); reader.next(); ) {
      if (reader.childCount === 0) continue;
      parents++;
      const value = Uint8Array.from(block?.value ?? []);
      new Int32Array(value.buffer)[reader.at + RECORD.childCount] = 0;
      const rest = records.filter((record) => record !== block);
      expect(() => load([...rest, { key: blockKey(1), value }])).toThrow('are told of');
    }
    expect(parents).toBe(3);
  });

  it('takes a path that is deeper than the stack', () => {
    const parent = Buffer.from('/a'.repeat(12_000));
    const head = [
      BLOCK_FORMAT,
      1,
      ...new Array(DIGEST_INTS - 1).fill(0),
      1,
      0,
      -1,
      4,
      parent.length,
    ];
    const value = Buffer.concat([Int32Array.from([...head, 0x62, 0]), parent].map(bytesOf));
    expect(() => load([{ key: Buffer.from('p\0\0\0\x01'), value }])).toThrow(
      DamagedCheckpointError,
    );
  });

  it('refuses a record that was cut or has another format, and gives another digest for others', () => {
    for (const damaged of records) {
      const rest = records.filter((record) => record !== damaged);
      const value = damaged.value ?? new Uint8Array(0);
      expect(() => load([...rest, { key: damaged.key, value: value.subarray(0, -1) }])).toThrow(
        DamagedCheckpointError,
      );
      for (let at = 0; at < value.length; at++) {
        const flipped = Uint8Array.from(value);
        flipped[at] = (flipped[at] ?? 0) ^ 0x10;
        let digest = '';
        try {
          digest = load([...rest, { key: damaged.key, value: flipped }]).digest();
        } catch (error) {
          expect(error).toBeInstanceOf(DamagedCheckpointError);
        }
        expect(digest).not.toBe(applier.state.digest());
      }
    }
  });
});
