/**
 * The two ways past an ACL that the operator can open, on running members: the super user of
 * `superDigest` and `skipACL`. Both are shut by default, for reads and for forwarded writes.
 */
import { AuthPacket, CreateFlag, CreateRequest, ErrorCode, OpCode, Perms } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { useServingEnsemble } from '../harness/ensemble.js';
import { getData, sendGetData, sendSetData } from '../harness/operations.js';
import { productUnderTest } from '../harness/product.js';
import { useClient } from '../harness/use-client.js';
import type { WireClient } from '../harness/wire-client.js';

const TEST_DEADLINE_MS = 60_000;
const SUPER_SECRET = 'super:control';
const SUPER_DIGEST = 'super:H8A9p8zmEqGes/QUR4WeRDKL+Xk=';
const PATH = '/sealed';

/** Nobody may read, write or delete it. */
async function createSealed(client: WireClient): Promise<void> {
  const acl = [{ perms: Perms.admin, scheme: 'world', id: 'anyone' }];
  const request = { path: PATH, data: Buffer.from('secret'), acl, flags: CreateFlag.persistent };
  const reply = await client.request(OpCode.create, CreateRequest, request);
  expect(reply.error).toBe(ErrorCode.ok);
}

async function authenticate(client: WireClient, secret: string): Promise<void> {
  const packet = { type: 0, scheme: 'digest', auth: Buffer.from(secret) };
  const reply = await client.request(OpCode.auth, AuthPacket, packet);
  expect(reply.error).toBe(ErrorCode.ok);
}

async function expectRefused(client: WireClient): Promise<void> {
  expect((await sendGetData(client, PATH)).error).toBe(ErrorCode.noAuth);
  expect((await sendSetData(client, PATH, 'changed')).error).toBe(-102);
}

async function expectAllowed(client: WireClient): Promise<void> {
  expect((await getData(client, PATH)).data).toBe('secret');
  expect((await sendSetData(client, PATH, 'changed')).error).toBe(ErrorCode.ok);
  expect((await getData(client, PATH)).data).toBe('changed');
}

it.skipIf(productUnderTest().name === 'apache')(
  'superDigest opens every znode to the super user, at a follower, and to nobody else',
  async () => {
    const ensemble = await useServingEnsemble({ settings: { superDigest: SUPER_DIGEST } });
    const [follower] = await ensemble.followers();
    if (follower === undefined) throw new Error('there is no follower');
    const client = await useClient(follower);
    await createSealed(client);
    await expectRefused(client);
    const impostor = await useClient(follower);
    await authenticate(impostor, 'super:guessed');
    await expectRefused(impostor);
    await authenticate(client, SUPER_SECRET);
    await expectAllowed(client);
    // The connection is the super user, not the member.
    await expectRefused(impostor);
  },
  TEST_DEADLINE_MS,
);

it.skipIf(productUnderTest().name === 'apache')(
  'skipACL opens every znode to a client that has authenticated nothing',
  async () => {
    const ensemble = await useServingEnsemble({ size: 1, settings: { skipACL: true } });
    const client = await useClient(ensemble.member(1));
    await createSealed(client);
    await expectAllowed(client);
    const other = await useClient(ensemble.member(1));
    expect((await getData(other, PATH)).data).toBe('changed');
  },
  TEST_DEADLINE_MS,
);

it.skipIf(productUnderTest().name === 'apache')(
  'without either, -102 is the answer to everybody, whoever calls himself super',
  async () => {
    const ensemble = await useServingEnsemble({ size: 1 });
    const client = await useClient(ensemble.member(1));
    await createSealed(client);
    await expectRefused(client);
    await authenticate(client, SUPER_SECRET);
    await expectRefused(client);
  },
  TEST_DEADLINE_MS,
);
