import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limitedBy, measuredAt, QuotaPrefixes, readLimits, readStats } from './quotas.js';
import { IGNORE_CHANGES, ReplicatedState } from './replicated-state.js';
import type { NodeMode, TxnOp } from './txn.js';

const ACL = [{ perms: 31, scheme: 'world', id: 'anyone' }];
const LIMITS = '/zookeeper/quota/q/zookeeper_limits';
const STATS = '/zookeeper/quota/q/zookeeper_stats';

class Member {
  state = new ReplicatedState();
  readonly #store = new Map<string, Uint8Array>();
  #zxid = 0;
  session = 0;

  apply(op: TxnOp): void {
    this.#zxid += 1;
    if (op.kind === 'createSession') this.session = this.#zxid;
    const txn = { origin: 1, request: 1, session: this.session, time: this.#zxid, op };
    this.state.apply(this.#zxid, txn, IGNORE_CHANGES);
  }
  create(path: string, data = '', mode: NodeMode = 'persistent'): void {
    const ttlMs = mode === 'ttl' ? 1000 : 0;
    this.apply({ kind: 'create', path, data: Buffer.from(data), acl: ACL, mode, ttlMs, opcode: 1 });
  }
  setData(path: string, data: string): void {
    const { tree } = this.state;
    const version = tree.version(tree.find(path)) + 1;
    this.apply({ kind: 'setData', path, data: Buffer.from(data), version });
  }
  delete(path: string): void {
    this.apply({ kind: 'delete', path });
  }
  limit(limits = 'count=5,bytes=5'): void {
    this.create('/zookeeper/quota/q');
    this.create(LIMITS, limits);
    this.create(STATS);
  }
  recover(): void {
    this.state.freeze(1000);
    while (!this.state.captureDone) {
      for (const { key, value } of this.state.captureSome(3, 1 << 20)) {
        const name = Buffer.from(key).toString('latin1');
        if (value === null) this.#store.delete(name);
        else this.#store.set(name, value);
      }
    }
    const recovered = new ReplicatedState();
    for (const [name, value] of [...this.#store].sort()) {
      recovered.load(Buffer.from(name, 'latin1'), value);
    }
    recovered.finishLoad({ zxid: this.#zxid, lastTime: this.#zxid });
    this.state = recovered;
  }
  text(path: string): string | null {
    const { tree } = this.state;
    const node = tree.find(path);
    return node === -1 ? null : Buffer.from(tree.data(node) ?? []).toString();
  }
}

function newMember(): Member {
  const member = new Member();
  member.apply({ kind: 'createSession', timeoutMs: 1, password: new Uint8Array(16) });
  return member;
}

describe('the statistics of a quota', () => {
  it('start with what exists, the path itself included', () => {
    const member = newMember();
    member.create('/q', '12345');
    member.create('/q/a', '6');
    member.create('/q/a/b', '78');
    member.create('/other', 'x');
    member.limit();
    expect(member.text(STATS)).toBe('count=3,bytes=8');
  });

  it('of a path that does not exist start with nothing', () => {
    const member = newMember();
    member.limit();
    expect(member.text(STATS)).toBe('count=0,bytes=0');
    member.create('/q', 'ab');
    expect(member.text(STATS)).toBe('count=1,bytes=2');
  });

  it('follow creates, writes, deletes and the end of a session', () => {
    const member = newMember();
    member.create('/q');
    member.limit();
    member.create('/q/a', '123');
    member.create('/qx', 'not below');
    member.create('/q/e', '1', 'ephemeral');
    expect(member.text(STATS)).toBe('count=3,bytes=4');
    member.setData('/q/a', '1');
    expect(member.text(STATS)).toBe('count=3,bytes=2');
    member.apply({ kind: 'closeSession' });
    member.delete('/q/a');
    expect(member.text(STATS)).toBe('count=1,bytes=0');
  });

  it('lose what a closed session owned, in any order, even its limits', () => {
    const [live, recovered] = [newMember(), newMember()];
    for (const member of [live, recovered]) {
      member.create('/q');
      member.create('/q/a', '12', 'ephemeral');
      member.create('/zookeeper/quota/q');
      member.create(LIMITS, 'count=9,bytes=9', 'ephemeral');
      member.create(STATS);
      member.create('/q/b', '345', 'ephemeral');
      member.create('/q/c', '6', 'ephemeral');
      expect(member.text(STATS)).toBe('count=4,bytes=6');
    }
    // After this, the session's ephemerals are linked in another order.
    recovered.recover();
    live.apply({ kind: 'closeSession' });
    recovered.apply({ kind: 'closeSession' });
    expect(live.text(STATS)).toBe('count=1,bytes=0');
    expect(recovered.state.digest()).toBe(live.state.digest());
    expect(live.state.quotas.governing('/q')).toBe(null);
  });

  it('are not a write: neither version nor times change, and no watch fires', () => {
    const member = newMember();
    member.create('/q');
    member.limit();
    const { tree } = member.state;
    const before = tree.stat(tree.find(STATS));
    member.create('/q/a', '1234567890');
    const after = tree.stat(tree.find(STATS));
    expect(after).toEqual({ ...before, dataLength: 16 });
  });

  it('stop when the limits are deleted', () => {
    const member = newMember();
    member.create('/q');
    member.limit();
    member.delete(LIMITS);
    member.create('/q/a', '1');
    expect(member.text(STATS)).toBe('count=1,bytes=0');
    expect(member.state.quotas.governing('/q/a')).toBeNull();
  });

  it('count for the longest path with a quota', () => {
    const member = newMember();
    member.create('/q');
    member.create('/q/in');
    member.limit();
    member.create('/zookeeper/quota/q/in');
    member.create('/zookeeper/quota/q/in/zookeeper_limits', 'count=1,bytes=1');
    member.create('/zookeeper/quota/q/in/zookeeper_stats');
    member.create('/q/in/x', 'abc');
    expect(member.text(STATS)).toBe('count=2,bytes=0');
    expect(member.text('/zookeeper/quota/q/in/zookeeper_stats')).toBe('count=2,bytes=3');
  });

  it('are the sum over the subtree, and the digest is equal, whichever member recovered in between', () => {
    const paths = ['/q', '/q/a', '/q/a/b', '/q/c', '/r'];
    const step = fc.record({
      path: fc.constantFrom(...paths),
      size: fc.integer({ min: 0, max: 700 }),
      mode: fc.constantFrom<NodeMode>('persistent', 'ephemeral', 'container', 'ttl'),
      remove: fc.boolean(),
      recover: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30, size: 'max' }), (steps) => {
        const [one, other] = [newMember(), newMember()];
        for (const member of [one, other]) member.limit();
        for (const { path, size, mode, remove, recover } of steps) {
          const { tree } = one.state;
          const node = tree.find(path);
          const parent = tree.find(path.slice(0, path.lastIndexOf('/')) || '/');
          const mayCreate = node === -1 && parent !== -1 && tree.mode(parent) !== 'ephemeral';
          const mayDelete = node !== -1 && remove && tree.childCount(node) === 0;
          const maySet = node !== -1 && !remove;
          if (recover) other.recover();
          for (const member of [one, other]) {
            if (mayCreate) member.create(path, 'x'.repeat(size), mode);
            if (mayDelete) member.delete(path);
            if (maySet) member.setData(path, 'x'.repeat(size));
          }
          const below = paths
            .slice(0, 4)
            .map((p) => one.state.tree.find(p))
            .filter((n) => n !== -1);
          const bytes = below.reduce((sum, n) => sum + one.state.tree.dataLength(n), 0);
          expect(one.text(STATS)).toBe(`count=${below.length},bytes=${bytes}`);
          expect(other.state.digest()).toBe(one.state.digest());
          expect(timedPaths(other.state)).toEqual(timedPaths(one.state));
          expect(measured(one.state)).toEqual(walked(one.state));
          expect(measured(other.state)).toEqual(walked(other.state));
          expect(measured(other.state)).toEqual(measured(one.state));
        }
      }),
      { numRuns: 60 },
    );
  });
});

function timedPaths({ tree }: ReplicatedState): readonly string[] {
  return Array.from({ length: tree.timedCount }, (_, at) => tree.path(tree.timedNode(at))).sort();
}

const MEASURED = ['/', '/q', '/q/a', '/zookeeper', '/zookeeper/quota', '/zookeeper/quota/q'];

interface Size {
  readonly count: number;
  readonly bytes: number;
}

/** The size of what is below, and the bytes of the node itself, as the tree keeps them. */
function measured({ tree }: ReplicatedState): readonly (Size | null)[] {
  return MEASURED.map((path) => tree.find(path)).map((node) =>
    node === -1 ? null : { count: tree.descendantCount(node), bytes: tree.subtreeDataBytes(node) },
  );
}

/** The same, by visiting every node. */
function walked({ tree }: ReplicatedState): readonly (Size | null)[] {
  const walk = (path: string): Size => {
    const node = tree.find(path);
    const below = tree.children(node).map((name) => walk(`${path === '/' ? '' : path}/${name}`));
    return {
      count: below.reduce((sum, { count }) => sum + count + 1, 0),
      bytes: below.reduce((sum, { bytes }) => sum + bytes, tree.dataLength(node)),
    };
  };
  return MEASURED.map((path) => (tree.find(path) === -1 ? null : walk(path)));
}

describe('the text of a quota', () => {
  it('is read in every form that clients write', () => {
    const read = (text: string) => readLimits(Buffer.from(text));
    expect(read('count=3,bytes=-1')).toEqual({ count: 3, bytes: -1, countHard: -1, bytesHard: -1 });
    expect(read('count=1,bytes=2=;byteHardLimit=9;countHardLimit=8')).toEqual({
      count: 1,
      bytes: 2,
      countHard: 8,
      bytesHard: 9,
    });
    expect(readStats(null)).toEqual({ count: -1, bytes: -1 });
    expect(read('nonsense==,;=7,count=x')).toEqual(read(''));
    const last = read('count=1,count=2;count=x,xcount=3,bytes=4=5,bytes=1234567890123456');
    expect(last).toMatchObject({ count: 2, bytes: 4 });
    expect(read('bytes=-7,count=999999999999999')).toMatchObject({ count: 1e15 - 1, bytes: -7 });
    expect(read('count=,bytes=-')).toEqual(read(''));
  });

  it('is stored in two nodes for a path, never for the root or a system path', () => {
    expect(limitedBy(LIMITS)).toBe('/q');
    expect(measuredAt(STATS)).toBe('/q');
    expect(limitedBy('/zookeeper/quota/a/b/zookeeper_limits')).toBe('/a/b');
    for (const path of ['/zookeeper_limits', '/zookeeper/quota/zookeeper_limits', '/q', STATS]) {
      expect(limitedBy(path)).toBeNull();
    }
    expect(limitedBy('/zookeeper/quota/zookeeper/config/zookeeper_limits')).toBeNull();
    expect(limitedBy('/zookeeper/quota/qzookeeper_limits')).toBeNull();
  });
});

const DEPTH = 2000;

const name = fc.constantFrom('a', 'b', 'ab', 'ä');
const path = fc.array(name, { minLength: 1, maxLength: 5 }).map((names) => `/${names.join('/')}`);
const step = fc.record({ does: fc.constantFrom('add', 'add', 'delete', 'ask'), path });

describe('the paths that have a quota', () => {
  it('govern what is at them and below them, the longest first', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
        const prefixes = new QuotaPrefixes();
        const model = new Set<string>();
        for (const { does, path: one } of steps) {
          if (does === 'add') {
            prefixes.add(one);
            model.add(one);
          } else if (does === 'delete') {
            prefixes.delete(one);
            model.delete(one);
          }
          expect(prefixes.count).toBe(model.size);
          const above = [...model].filter((other) => `${one}/`.startsWith(`${other}/`));
          const longest = above.sort((x, y) => y.length - x.length)[0] ?? null;
          expect(prefixes.governing(one)).toBe(longest);
          expect(prefixes.governing('/')).toBe(null);
        }
      }),
    );
  });

  it('are found by reading each segment once, however deep the path is', () => {
    const prefixes = new QuotaPrefixes();
    const deep = '/n'.repeat(DEPTH);
    for (let depth = 1; depth < DEPTH; depth += 2) prefixes.add(deep.slice(0, 2 * depth));
    let asked = 0;
    const get = Map.prototype.get;
    Map.prototype.get = function counted(key) {
      asked += 1;
      return get.call(this, key);
    };
    try {
      prefixes.governing(deep);
    } finally {
      Map.prototype.get = get;
    }
    expect(asked).toBeLessThanOrEqual(DEPTH);
    expect(prefixes.governing(deep)).toBe(deep.slice(0, 2 * (DEPTH - 1)));
  });
});
