/** Which ACL a new znode gets, and its parents, where the request names none. */
import { type Acl, Perms, type Stat } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { keptLog } from '../../simulated/net/fixtures.js';
import type { Caller } from './caller.js';
import type { NewNode, NodeWriter } from './node-source.js';
import { NodeWrites } from './tree-routes.js';

const CLOSED: readonly Acl[] = [{ perms: Perms.read, scheme: 'world', id: 'anyone' }];
const OPEN: readonly Acl[] = [{ perms: Perms.all, scheme: 'world', id: 'anyone' }];
const CALLER: Caller = {
  user: null,
  mayChange: true,
  remoteAddress: '127.0.0.1',
  requester: { identities: [], skipAcl: false },
  auths: [],
};

async function aclsOf(query: string, defaultAcl: readonly Acl[] | null) {
  const made: NewNode[] = [];
  const unused = () => Promise.reject(new Error('not asked'));
  const stat: Stat = {
    czxid: 1n,
    mzxid: 1n,
    ctime: 0n,
    mtime: 0n,
    version: 0,
    cversion: 0,
    aversion: 0,
    ephemeralOwner: 0n,
    dataLength: 0,
    numChildren: 0,
    pzxid: 1n,
  };
  const writer: NodeWriter = {
    create: async (node) => {
      made.push(node);
      return { path: node.path, stat };
    },
    setData: unused,
    setAcl: unused,
    remove: unused,
    now: unused,
    end: () => undefined,
  };
  const { logger } = keptLog();
  const writes = new NodeWrites(async () => writer, { defaultAcl, logger });
  const params = new URLSearchParams(query);
  await writes.create({
    query: params,
    caller: CALLER,
    names: [],
    request: {
      method: 'POST',
      path: '/api/v1/node',
      query: params,
      headers: {},
      remoteAddress: '127.0.0.1',
      signal: new AbortController().signal,
      readBody: async () => new Uint8Array(0),
    },
  });
  return made.map(({ acl }) => acl);
}

it('is rootAcl where that is set, also for its parents', async () => {
  expect(await aclsOf('path=/a/b&parents=true', CLOSED)).toEqual([CLOSED, CLOSED]);
});

it('is open as in ZooKeeper where rootAcl is not set', async () => {
  expect(await aclsOf('path=/a', null)).toEqual([OPEN]);
});

it('is what the request says in any case', async () => {
  expect(await aclsOf('path=/a&acl=world:anyone:cdrwa', CLOSED)).toEqual([OPEN]);
});
