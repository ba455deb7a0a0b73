/**
 * The two settings by which an operator can bypass ACLs, on running members: the super user of
 * `superDigest`, and `skipACL`. Both are off by default, for reads and for forwarded writes.
 */
import { AuthPacket, CreateFlag, CreateRequest, ErrorCode, OpCode, Perms } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { useServingEnsemble } from '../../harness/ensemble.js';
import { getData, sendGetData, sendSetData } from '../../harness/operations.js';
import { productUnderTest } from '../../harness/product.js';
import { useClient } from '../../harness/use-client.js';
import type { WireClient } from '../../harness/wire-client.js';

const TEST_DEADLINE_MS = 60_000;
const SUPER_SECRET = 'super:control';
const SUPER_DIGEST = 'super:H8A9p8zmEqGes/QUR4WeRDKL+Xk=';
const PATH = '/sealed';

/** An ACL with which nobody may read, write or delete the znode. */
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

/** As `rookery config hash-password super` prints it for the password `control`. */
const SUPER_HASH =
  'super:$scrypt$ln=15,r=8,p=1$kOqLVly40oGX5r8QdrioLA$iA7xOZ1Rs5gIgG6Mlsxo+wAGGsdDHa35TMZlnYNv8eU';

it.skipIf(productUnderTest().name === 'apache')(
  'a superDigest by scrypt gives the same access, and a wrong password gives none',
  async () => {
    const ensemble = await useServingEnsemble({ size: 1, settings: { superDigest: SUPER_HASH } });
    const [member] = ensemble.members;
    if (member === undefined) throw new Error('there is a member');
    const client = await useClient(member);
    await createSealed(client);
    const impostor = await useClient(member);
    await authenticate(impostor, 'super:guessed');
    await expectRefused(impostor);
    await authenticate(client, SUPER_SECRET);
    await expectAllowed(client);
    // Known by now, so it is judged at once.
    const again = await useClient(member);
    await authenticate(again, SUPER_SECRET);
    expect((await getData(again, PATH)).data).toBe('changed');
  },
  TEST_DEADLINE_MS,
);

it.skipIf(productUnderTest().name === 'apache')(
  'superDigest gives the super user, and nobody else, access to every znode, also at a follower',
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
    // The connection is that of the super user; the member does not matter.
    await expectRefused(impostor);
  },
  TEST_DEADLINE_MS,
);

it.skipIf(productUnderTest().name === 'apache')(
  'skipACL gives a client without any identity access to every znode',
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
  'without either setting everybody is answered with -102, including a user who claims to be super',
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
