/** Which ACLs are given to everything below a znode, and which are not. */
import { expect, it } from 'vitest';
import type { Api } from '../../api/api.js';
import type { AclEntry } from '../../api/types.js';
import { aclPlan } from './acl-plan.js';
import { stepCount } from './plan.js';

const OPEN: AclEntry = { scheme: 'world', id: 'anyone', perms: 'cdrwa' };

/** A znode `/a` with the child `/a/b`, whose ACL the person may change or not. */
function apiOfTwo(admin: boolean): Api {
  const stat = (numChildren: number) => ({ numChildren, dataLength: 0 });
  const get = async (path: string) => {
    if (path === '/node') return { mode: 'persistent', stat: stat(1) };
    return { children: [{ name: 'b', mode: 'persistent', stat: stat(0) }], next: null };
  };
  const ask = async () =>
    Response.json({ acl: [OPEN], may: { admin } }, { headers: { etag: '"0"' } });
  return { get, ask } as unknown as Api;
}

async function planFor(acl: readonly AclEntry[], admin = true) {
  const asked = { signal: new AbortController().signal, onProgress: () => {} };
  return await aclPlan(apiOfTwo(admin), { path: '/a', acl }, asked);
}

async function stepsFor(acl: readonly AclEntry[]): Promise<string | number> {
  const plan = await planFor(acl);
  return typeof plan === 'string' ? plan : stepCount(plan);
}

it('changes what has another ACL', async () => {
  expect(await stepsFor([OPEN])).toBe(0);
  expect(await stepsFor([{ ...OPEN, perms: 'r' }])).toBe(1);
});

it('tells beforehand what the person may not change, and leaves it out', async () => {
  const plan = await planFor([{ ...OPEN, perms: 'r' }], false);
  expect(plan).toMatchObject({
    groups: [],
    warnings: [{ sentence: expect.stringContaining('of 1 znode'), paths: ['/a/b'] }],
  });
  expect(await planFor([OPEN], false)).toMatchObject({ groups: [], warnings: [] });
});

it('gives nobody an ACL whose digests are not seen, which would lock everybody out', async () => {
  const cut = { scheme: 'digest', id: 'ops:x', perms: 'cdrwa' };
  expect(await stepsFor([OPEN, cut])).toContain('You do not see this ACL whole');
});
