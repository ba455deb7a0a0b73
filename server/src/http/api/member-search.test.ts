/** A scan counts the paths that are made for it, so a turn makes few long ones. */
import { OpCode } from '@rookery/protocol';
import { afterEach, expect, it, vi } from 'vitest';

import { encodeTxn, proposalOf } from '../../simulated/state/encoded-txn.js';
import { IGNORE_CHANGES, ReplicatedState } from '../../state/replicated-state.js';
import type { TxnOp } from '../../state/txn.js';
import { TxnViews } from '../../state/txn-codec.js';
import type { ApiMember } from './api-member.js';
import { memberSearch } from './member-search.js';
import type { Candidate } from './search-route.js';

const CALLER = { requester: { identities: [], skipAcl: true } };

afterEach(() => {
  vi.restoreAllMocks();
});

function stateOf(paths: readonly string[]): ReplicatedState {
  const state = new ReplicatedState();
  const views = new TxnViews();
  const acl = [{ perms: 31, scheme: 'world', id: 'anyone' }];
  paths.forEach((path, index) => {
    const op: TxnOp = {
      kind: 'create',
      path,
      data: null,
      acl,
      mode: 'persistent',
      ttlMs: 0,
      opcode: OpCode.create,
    };
    const txn = { origin: 1, request: index + 1, session: 0, time: 1000, op };
    state.apply(index + 1, views.txnOf(proposalOf(encodeTxn(txn))), IGNORE_CHANGES);
  });
  return state;
}

/** The most paths that one turn of a search makes, where the clock allows two looks a turn. */
async function pathsInTurn(root: string): Promise<number> {
  const children = Array.from({ length: 600 }, (_, index) => `${root}/c${index}`);
  const state = stateOf([root, ...children]);
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now++);
  // A search needs nothing else of its member.
  const context = () => ({ view: { serving: true } });
  const member = { state, context } as unknown as ApiMember;
  const { signal } = new AbortController();
  let [made, most, all] = [0, 0, 0];
  const isWanted = (candidate: Candidate): boolean => {
    if (candidate.path.startsWith(root)) all += 1;
    made += 1;
    most = Math.max(most, made);
    return false;
  };
  let isOver = false;
  const turns = (async () => {
    while (!isOver) {
      await new Promise((resolve) => setImmediate(resolve));
      made = 0;
    }
  })();
  const asked = { path: root, isWanted, limit: 1, caller: CALLER as never, signal };
  for await (const line of await memberSearch(member)(asked)) {
    expect(line).toMatchObject({ done: true });
  }
  isOver = true;
  await turns;
  expect(all).toBe(601);
  return most;
}

it('makes few paths in a turn where they are long', async () => {
  // One at each look; a new state begins with a few short ones.
  expect(await pathsInTurn(`/${'n'.repeat(100_000)}`)).toBeLessThanOrEqual(8);
});

it('makes many where they are short', async () => {
  expect(await pathsInTurn('/n')).toBeGreaterThanOrEqual(64);
});
