// Tests that the figures of a znode contain nothing of what their asker may not read.
import { OpCode } from '@rookery/protocol';
import { expect, it } from 'vitest';
import type { Requester } from '../../pipeline/access.js';
import { encodeTxn, proposalOf } from '../../simulated/state/encoded-txn.js';
import { IGNORE_CHANGES, ReplicatedState } from '../../state/replicated-state.js';
import type { Acl } from '../../state/txn.js';
import { TxnViews } from '../../state/txn-codec.js';
import type { ApiMember } from './api-member.js';
import { MemberNodes } from './member-nodes.js';

const OPEN: readonly Acl[] = [{ perms: 31, scheme: 'world', id: 'anyone' }];
const BOBS: readonly Acl[] = [{ perms: 31, scheme: 'digest', id: 'bob:x' }];
/** More than one request looks at. */
const MANY = 40_000;

const ANYONE: Requester = { identities: [], skipAcl: false };
const BOB: Requester = { identities: [{ scheme: 'digest', id: 'bob:x' }], skipAcl: false };
const SUPER: Requester = { identities: [{ scheme: 'super', id: '' }], skipAcl: false };

class Tree {
  readonly state = new ReplicatedState();
  readonly #views = new TxnViews();
  #zxid = 0;

  create(path: string, acl = OPEN, bytes = 1): this {
    const zxid = ++this.#zxid;
    const op = {
      kind: 'create',
      path,
      data: new Uint8Array(bytes),
      acl,
      mode: 'persistent',
      ttlMs: 0,
      opcode: OpCode.create,
    } as const;
    const txn = { origin: 1, request: zxid, session: 0, time: 1000, op };
    this.state.apply(zxid, this.#views.txnOf(proposalOf(encodeTxn(txn))), IGNORE_CHANGES);
    return this;
  }

  createMany(parent: string): this {
    this.create(parent);
    for (let at = 0; at < MANY; at++) this.create(`${parent}/${at}`);
    return this;
  }

  bytesFor(requester: Requester, path: string): number | null {
    const context = () => ({ view: { serving: true } });
    const nodes = new MemberNodes({ state: this.state, context } as unknown as ApiMember);
    return nodes.facts(path, { requester } as never).value.subtreeBytes;
  }
}

it('the bytes of a subtree are for those who may read all of it', () => {
  const tree = new Tree();
  tree.create('/a').create('/a/b').create('/a/b/secret', BOBS, 100).create('/c').create('/c/d');
  expect(['/a', '/a/b', '/c'].map((path) => tree.bytesFor(ANYONE, path))).toEqual([null, null, 2]);
  expect(tree.bytesFor(BOB, '/a')).toBe(102);
  expect(tree.bytesFor(SUPER, '/a')).toBe(102);
});

it('they do not show what is below a znode that the asker may not read', () => {
  const few = new Tree().create('/a').create('/a/secret', BOBS);
  const many = new Tree().create('/a').create('/a/secret', BOBS);
  for (let at = 0; at < 100; at++) many.create(`/a/secret/${at}`, at === 0 ? BOBS : OPEN);
  expect(many.bytesFor(ANYONE, '/a')).toEqual(few.bytesFor(ANYONE, '/a'));
});

it('they are known of a large subtree where the asker may read the whole tree', () => {
  const tree = new Tree().createMany('/a');
  expect(tree.bytesFor(ANYONE, '/a')).toBe(MANY + 1);
  tree.create('/secret', BOBS);
  expect(tree.bytesFor(ANYONE, '/a')).toBeNull();
  expect(tree.bytesFor(BOB, '/a')).toBe(MANY + 1);
  expect(tree.bytesFor(SUPER, '/a')).toBe(MANY + 1);
});
