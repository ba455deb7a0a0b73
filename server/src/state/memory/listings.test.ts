import { JuteReader, JuteWriter } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { IGNORE_CHANGES, ReplicatedState } from '../replicated-state.js';
import type { TxnOp } from '../txn.js';
import { EncodedChildren } from './listings.js';

const ACL = [{ perms: 31, scheme: 'world', id: 'anyone' }];

describe('the kept lists', () => {
  it('are bounded together; the least recently used make room', () => {
    const kept = new EncodedChildren(100);
    kept.keep(1, new Uint8Array(40));
    kept.keep(2, new Uint8Array(40));
    expect(kept.get(1)).toHaveLength(40);
    kept.keep(3, new Uint8Array(60));
    expect([1, 2, 3].map((node) => kept.get(node)?.length)).toEqual([40, undefined, 60]);
    expect(kept.bytes).toBe(100);
    kept.keep(4, new Uint8Array(101));
    expect(kept.get(4)).toBe(undefined);
    expect(kept.bytes).toBe(100);
    kept.keep(3, new Uint8Array(10));
    expect(kept.bytes).toBe(50);
    kept.forget(1);
    kept.forget(9);
    expect(kept.bytes).toBe(10);
  });
});

describe('the children of a large directory', () => {
  it('are up to date after every change, however often they are read', () => {
    const state = new ReplicatedState();
    const names = new Set<string>();
    let zxid = 0;
    const apply = (op: TxnOp) => {
      zxid += 1;
      const txn = { origin: 1, request: 1, session: 1, time: 1, op };
      state.apply(zxid, txn, IGNORE_CHANGES);
    };
    const create = (path: string, mode: 'persistent' | 'ephemeral' = 'persistent') => {
      apply({ kind: 'create', path, data: null, acl: ACL, mode, ttlMs: 0, opcode: 1 });
    };
    const listed = (): string[] => {
      const writer = new JuteWriter();
      state.tree.writeChildren(state.tree.find('/d'), writer);
      const reader = new JuteReader(writer.take());
      return Array.from({ length: reader.int() }, () => reader.string() ?? '').sort();
    };
    apply({ kind: 'createSession', timeoutMs: 1, password: new Uint8Array(16) });
    create('/d');
    for (let index = 0; index < 1_200; index++) {
      names.add(`n${index}é`);
      create(`/d/n${index}é`);
    }
    for (let index = 0; index < 3; index++) expect(listed()).toEqual([...names].sort());
    for (const length of [1, 3, 4, 15, 16, 17, 511, 512, 513, 20_000]) {
      const name = 'x'.repeat(length);
      names.add(name);
      create(`/d/${name}`);
    }
    expect(listed()).toEqual([...names].sort());
    create('/d/e', 'ephemeral');
    expect(listed()).toEqual([...names, 'e'].sort());
    create('/d/n1é/below');
    apply({ kind: 'setData', path: '/d/n2é', data: null, version: 1 });
    expect(listed()).toEqual([...names, 'e'].sort());
    apply({ kind: 'closeSession' });
    expect(listed()).toEqual([...names].sort());
    apply({ kind: 'delete', path: '/d/n7é' });
    names.delete('n7é');
    expect(listed()).toEqual([...names].sort());
  });
});
