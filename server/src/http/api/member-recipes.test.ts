/** A directory with thousands of contenders is looked at in several turns. */
import { OpCode } from '@rookery/protocol';
import { afterEach, expect, it, vi } from 'vitest';
import { encodeTxn, proposalOf } from '../../simulated/state/encoded-txn.js';
import { IGNORE_CHANGES, ReplicatedState } from '../../state/replicated-state.js';
import type { TxnOp } from '../../state/txn.js';
import { TxnViews } from '../../state/txn-codec.js';
import type { ApiMember } from './api-member.js';
import { MemberRecipes } from './member-recipes.js';

const CALLER = { requester: { identities: [], skipAcl: true } } as never;
const ACL = [{ perms: 31, scheme: 'world', id: 'anyone' }];
const LOCKS = 8000;

afterEach(() => {
  vi.restoreAllMocks();
});

class Fixture {
  readonly state = new ReplicatedState();
  readonly #views = new TxnViews();
  #zxid = 0;

  apply(op: TxnOp): void {
    this.#zxid += 1;
    const txn = { origin: 1, request: this.#zxid, session: 0, time: 1000, op };
    this.state.apply(this.#zxid, this.#views.txnOf(proposalOf(encodeTxn(txn))), IGNORE_CHANGES);
  }

  create(path: string): void {
    const opcode = OpCode.create;
    this.apply({
      kind: 'create',
      path,
      data: null,
      acl: ACL,
      mode: 'persistent',
      ttlMs: 0,
      opcode,
    });
  }
}

function lockName(at: number): string {
  return `lock-${String(at).padStart(10, '0')}`;
}

function withLocks(): Fixture {
  const fixture = new Fixture();
  fixture.create('/lock');
  for (let at = 0; at < LOCKS; at++) fixture.create(`/lock/${lockName(at)}`);
  return fixture;
}

function recipesOf({ state }: Fixture): MemberRecipes {
  // The recipes need nothing else of their member where no client is connected.
  const context = () => ({ view: { serving: true }, connections: () => [] });
  const member = { state, context } as unknown as ApiMember;
  return new MemberRecipes(member, () => ({ clients: () => Promise.resolve(new Map()) }) as never);
}

/** The turns that it takes if each look at the clock takes 0.1 ms. */
async function turnsOf<T>(run: Promise<T>, onTurn: (turn: number) => void): Promise<[T, number]> {
  let turns = 0;
  let isOver = false;
  const counting = (async () => {
    while (!isOver) {
      await new Promise((resolve) => setImmediate(resolve));
      turns += 1;
      onTurn(turns);
    }
  })();
  const result = await run;
  isOver = true;
  await counting;
  return [result, turns];
}

function slowClock(): void {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => {
    now += 0.1;
    return now;
  });
}

it('takes a few milliseconds of a turn for a lock with 8,000 waiters', async () => {
  const recipes = recipesOf(withLocks());
  slowClock();
  const [lock, turns] = await turnsOf(recipes.one('/lock', CALLER), () => undefined);
  expect(lock).toMatchObject({ kind: 'lock', count: LOCKS, truncated: false });
  expect(lock?.holders.map(({ name }) => name)).toEqual([lockName(0)]);
  expect(lock?.waiters[0]?.name).toBe(lockName(1));
  expect(turns).toBeGreaterThan(LOCKS / 64 / 20);
});

it('a search divides its look at each directory as well', async () => {
  const recipes = recipesOf(withLocks());
  slowClock();
  const { signal } = new AbortController();
  const all = recipes.all({ path: '/', limit: 10, caller: CALLER, signal });
  const [lines, turns] = await turnsOf(
    (async () => {
      const found: object[] = [];
      for await (const line of all) found.push(line);
      return found;
    })(),
    () => undefined,
  );
  expect(lines[0]).toMatchObject({ path: '/lock', count: LOCKS });
  expect(turns).toBeGreaterThan(LOCKS / 64 / 20);
});

it('a znode that is deleted between two turns is left out, and so is a whole directory', async () => {
  const fixture = withLocks();
  const recipes = recipesOf(fixture);
  slowClock();
  const deleteOf = (path: string): void => {
    fixture.apply({ kind: 'delete', path });
  };
  const [lock] = await turnsOf(recipes.one('/lock', CALLER), (turn) => {
    if (turn === 1) for (let at = 0; at < 10; at++) deleteOf(`/lock/${lockName(at)}`);
  });
  expect(lock?.holders.every(({ name }) => name >= lockName(10)) ?? false).toBe(true);
  const [gone] = await turnsOf(recipes.one('/lock', CALLER), (turn) => {
    if (turn !== 1) return;
    for (let at = 10; at < LOCKS; at++) deleteOf(`/lock/${lockName(at)}`);
    deleteOf('/lock');
  });
  expect(gone).toBeNull();
});
