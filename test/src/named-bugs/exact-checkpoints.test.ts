/**
 * ZooKeeper's fuzzy snapshots: what was changed while one was written came back in halves, twice,
 * or without its session or its ACL. Here every checkpoint is exact at one zxid, whatever happens
 * meanwhile; each scenario tries every point at which one may begin.
 */
import { OpCode } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import type { ReplicatedState } from '../simulated.js';
import { applyStep, captureDuring, loaded, type Step, visible, zxidAt } from './captured.js';

const OPEN = [{ perms: 31, scheme: 'world', id: 'anyone' }];

function create(path: string, options: { owner?: number; acl?: typeof OPEN } = {}): Step {
  const { owner = 0, acl = OPEN } = options;
  const mode = owner === 0 ? 'persistent' : 'ephemeral';
  const data = Buffer.from(path);
  const op = { kind: 'create', path, data, acl, mode, ttlMs: 0, opcode: OpCode.create } as const;
  return { session: owner, op };
}
function remove(path: string): Step {
  return { session: 0, op: { kind: 'delete', path } };
}
function setData(path: string, version: number): Step {
  const data = Buffer.from(`${path} ${version}`);
  return { session: 0, op: { kind: 'setData', path, data, version } };
}
function multi(...steps: readonly Step[]): Step {
  const ops = steps.map(({ op }) => {
    if (op.kind === 'multi' || op.kind === 'error') throw new Error(`no ${op.kind} in a multi`);
    if (op.kind === 'createSession' || op.kind === 'closeSession') throw new Error(op.kind);
    if (op.kind === 'raiseLevel') throw new Error(op.kind);
    if (op.kind === 'beginClose' || op.kind === 'raiseSequence') throw new Error(op.kind);
    return op;
  });
  return { session: 0, op: { kind: 'multi', ops } };
}
const OPEN_SESSION: Step = {
  session: 0,
  op: { kind: 'createSession', timeoutMs: 5000, password: new Uint8Array(16) },
};
function closeSession(session: number): Step {
  return { session, op: { kind: 'closeSession' } };
}

/** Checks the content of each checkpoint, then the result of replaying the log over it. */
function atEveryBeginning(
  steps: readonly Step[],
  check: (checkpoint: ReplicatedState, frozenAfter: number) => void,
): void {
  for (let frozenAfter = 1; frozenAfter < steps.length; frozenAfter++) {
    const captured = captureDuring(steps, frozenAfter);
    const state = loaded(captured);
    expect(state.lastZxid).toBe(zxidAt(frozenAfter - 1));
    check(state, frozenAfter);
    expect(state.digest(), `frozen after ${frozenAfter}`).toBe(captured.digest);
    for (const [index, step] of steps.entries()) {
      if (index >= frozenAfter) applyStep(state, step, index);
    }
    expect(visible(state), `frozen after ${frozenAfter}`).toEqual(visible(captured.live));
    expect(state.digest()).toBe(captured.live.digest());
  }
}

describe('a checkpoint in progress', () => {
  it('ZK-3127: contains each concurrent multi completely or not at all', () => {
    const rounds = Array.from({ length: 8 }, (_, round) => [
      multi(create(`/a-${round}`), create(`/b-${round}`), setData('/sum', round + 1)),
      ...(round % 2 === 1 ? [multi(remove(`/a-${round - 1}`), remove(`/b-${round - 1}`))] : []),
    ]);
    atEveryBeginning([create('/sum'), ...rounds.flat()], ({ tree }) => {
      const names = tree.children(tree.find('/'));
      const rest = (letter: string) =>
        names.filter((name) => name.startsWith(`${letter}-`)).map((name) => name.slice(2));
      expect(rest('a').sort()).toEqual(rest('b').sort());
    });
  });

  it('ZK-3144: contains the session of each of its ephemerals, and no ephemeral of a closed session', () => {
    const steps: Step[] = [create('/e')];
    const open: number[] = [];
    for (let round = 0; round < 8; round++) {
      const session = zxidAt(steps.length);
      steps.push(OPEN_SESSION, create(`/e/${round}-x`, { owner: session }));
      steps.push(create(`/e/${round}-y`, { owner: session }));
      open.push(session);
      if (round % 2 === 1) steps.push(closeSession(open.shift() ?? 0));
    }
    steps.push(...open.map(closeSession));
    atEveryBeginning(steps, ({ tree, sessions }) => {
      const owners = tree
        .children(tree.find('/e'))
        .map((name) => tree.owner(tree.find(`/e/${name}`)));
      expect(owners.filter((owner) => !sessions.has(owner))).toEqual([]);
    });
  });

  it('ZK-3249: gives a parent the cversion and pzxid of its children in the checkpoint, from which replay continues', () => {
    const steps: Step[] = [create('/p')];
    for (let round = 0; round < 10; round++) {
      steps.push(create(`/p/${round}`));
      if (round % 3 === 2) steps.push(remove(`/p/${round - 1}`));
    }
    atEveryBeginning(steps, ({ tree }, frozenAfter) => {
      const before = steps.slice(1, frozenAfter);
      const stat = tree.stat(tree.find('/p'));
      expect(stat.cversion).toBe(before.length);
      expect(stat.pzxid).toBe(zxidAt(frozenAfter - 1));
    });
  });

  it('ZK-3306, ZK-4846, ZK-4689: contains every znode with the ACL that it had', () => {
    // Lists are added, removed and shared: a table of them must not drop one that is in use.
    const aclOf = (user: number) => [{ perms: 31, scheme: 'digest', id: `user-${user}:x` }];
    const steps: Step[] = [];
    for (let node = 0; node < 8; node++) {
      const path = `/n-${node}`;
      steps.push(create(path, { acl: aclOf(node >> 1) }));
      if (node > 1) steps.push(remove(`/n-${node - 2}`));
      steps.push({ session: 0, op: { kind: 'setAcl', path, acl: aclOf(node >> 2), version: 1 } });
    }
    atEveryBeginning(steps, ({ tree }, frozenAfter) => {
      const expected = new Map<string, unknown>();
      for (const { op } of steps.slice(0, frozenAfter)) {
        if (op.kind === 'create' || op.kind === 'setAcl') expected.set(op.path, op.acl);
        else if (op.kind === 'delete') expected.delete(op.path);
      }
      const paths = tree.children(tree.find('/')).filter((name) => name.startsWith('n-'));
      expect(new Map(paths.map((name) => [`/${name}`, tree.acl(tree.find(`/${name}`))]))).toEqual(
        expected,
      );
    });
  });
});
