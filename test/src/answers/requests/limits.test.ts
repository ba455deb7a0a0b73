/**
 * At every limit: what was accepted once is read back after a restart and by a member that received
 * a SNAP, and what is refused harms nobody (ZOOKEEPER-3496, -4306). And nothing gets stuck: however
 * small the limit or large the burst, every request is answered.
 */
import {
  type Acl,
  CreateFlag,
  CreateRequest,
  decode,
  ErrorCode,
  encode,
  GetAclResponse,
  GetChildrenResponse,
  GetDataResponse,
  MultiRequest,
  OpCode,
  PathRequest,
  PathWatchRequest,
  Perms,
} from '@rookery/protocol';
import { expect, it } from 'vitest';
import { type Ensemble, useEnsemble, useServingEnsemble } from '../../harness/ensemble.js';
import type { Member } from '../../harness/member.js';
import { create, exists, multiFailed, sendSetData, sync } from '../../harness/operations.js';
import { useClient } from '../../harness/use-client.js';
import { until, within } from '../../harness/wait.js';
import { ConnectionLost, type Reply, WireClient } from '../../harness/wire-client.js';

const TEST_DEADLINE_MS = 180_000;
const CLOSED_DEADLINE_MS = 10_000;
const SYNC_DEADLINE_MS = 60_000;
const FRAME_BYTES_MAX = 1_048_575;
const TOKENS = 4;
const ACL = [{ perms: Perms.all, scheme: 'world', id: 'anyone' }];
/** The maximal size of a stored ACL list, and the overhead of an entry beside its strings. */
const ACL_BYTES_MAX = 256 << 10;
const ACL_ENTRY_BYTES = 12;
const LARGEST_ACL = largestAcl();
const HEADER_BYTES = 8;
/** This tests limits, so a busy machine must not depose a leader. */
const PATIENT = { peerTimeoutMs: 5_000, multiOpsMax: 100_000 };
/** A member that was away thus needs a snapshot. */
const NO_OLD_LOG = {
  ROOKERY_LOG_KEEP_BYTES: '1',
  ROOKERY_LOG_SEGMENT_BYTES: '65536',
  ROOKERY_CHECKPOINT_LOG_BYTES: '65536',
  ROOKERY_WINDOW_BYTES: '65536',
};

function createRequest(path: string, data: Uint8Array | null, flags = 0): CreateRequest {
  return { path, data, acl: ACL, flags };
}

/** A create whose frame has exactly this many bytes. */
function createOf(path: string, frameBytes: number): CreateRequest {
  const empty = encode(CreateRequest, createRequest(path, Buffer.alloc(0)));
  return createRequest(path, Buffer.alloc(frameBytes - HEADER_BYTES - empty.length, path));
}

function sendCreateOf(client: WireClient, request: CreateRequest): Promise<Reply> {
  return client.request(OpCode.create, CreateRequest, request);
}

/** A multi with as many operations as fit into a frame, each made by `op`. */
function fullMulti(path: (index: number) => string, flags: number): MultiRequest {
  const op = (index: number) => ({
    opcode: OpCode.create,
    request: createRequest(path(index), null, flags),
  });
  const one = encode(MultiRequest, { ops: [op(10_000)] }).length;
  const none = encode(MultiRequest, { ops: [] }).length;
  const count = Math.floor((FRAME_BYTES_MAX - HEADER_BYTES - none) / (one - none));
  return { ops: Array.from({ length: count }, (_, index) => op(index)) };
}

async function childrenOf(client: WireClient, path: string): Promise<Reply> {
  return await client.request(OpCode.getChildren, PathWatchRequest, { path, watch: false });
}

async function expectReadBack(member: Member, largest: CreateRequest, names: number) {
  const client = await useClient(member);
  await sync(client);
  const { path } = largest;
  const data = await client.request(OpCode.getData, PathWatchRequest, { path, watch: false });
  expect(
    Buffer.compare(
      decode(GetDataResponse, data.body).data ?? Buffer.alloc(0),
      largest.data ?? Buffer.alloc(0),
    ),
  ).toBe(0);
  expect(await exists(client, longPath())).toBeDefined();
  const listed = await childrenOf(client, '/directory');
  expect(listed.body.length).toBeGreaterThan(FRAME_BYTES_MAX);
  expect(decode(GetChildrenResponse, listed.body).children.length).toBe(names);
  const acl = await client.request(OpCode.getAcl, PathRequest, { path: '/acl' });
  expect(decode(GetAclResponse, acl.body).acl).toEqual(LARGEST_ACL);
  const sequential = await childrenOf(client, '/sequential');
  expect(decode(GetChildrenResponse, sequential.body).children.length).toBeGreaterThan(15_000);
}

/** 256 entries that fill the limit to the byte; the last one lets everybody read all of it. */
function largestAcl(): Acl[] {
  const sizeOf = ({ scheme, id }: Acl) => ACL_ENTRY_BYTES + scheme.length + id.length;
  const share = ACL_BYTES_MAX / 256;
  const [everybody] = ACL;
  if (everybody === undefined) throw new Error('the open ACL has an entry');
  const entries = Array.from({ length: 255 }, (_, index) => {
    const entry = { perms: Perms.all, scheme: 'digest', id: `${index}:` };
    const missing = share - sizeOf(entry) + (index === 0 ? share - sizeOf(everybody) : 0);
    return { ...entry, id: entry.id + 'x'.repeat(missing) };
  });
  return [...entries, everybody];
}

/** The longest there is, to the byte. */
function longPath(): string {
  return `/${'n'.repeat(65_535)}`;
}

/** A directory whose list of names is larger than any frame. */
async function fillDirectory(client: WireClient): Promise<number> {
  await create(client, '/directory');
  let names = 0;
  for (const part of ['a', 'b', 'c', 'd']) {
    const multi = fullMulti((index) => `/directory/${part}${'-'.repeat(40)}${10_000 + index}`, 0);
    const reply = await client.request(OpCode.multi, MultiRequest, multi);
    expect(multiFailed(reply)).toBe(false);
    names += multi.ops.length;
  }
  return names;
}

async function bringBackBySnapshot(ensemble: Ensemble, away: Member): Promise<void> {
  ensemble.wipe(away.id);
  const mark = away.logMark();
  ensemble.start([away.id]);
  await away.waitForLog(/snapshot\.installed/, SYNC_DEADLINE_MS, mark);
  await ensemble.serving();
}

it(
  'data that fills a frame is replicated, sent in a SNAP, and read back after a restart',
  async () => {
    const ensemble = await useEnsemble({ settings: PATIENT, environment: NO_OLD_LOG });
    ensemble.start();
    await ensemble.serving();
    const [away] = await ensemble.followers();
    if (away === undefined) throw new Error('there is a follower');
    const [home] = ensemble.members.filter((member) => member !== away);
    if (home === undefined) throw new Error('there is another member');
    const client = await useClient(home);
    const largest = createOf('/largest', FRAME_BYTES_MAX);
    expect((await sendCreateOf(client, largest)).error).toBe(0);
    expect((await sendCreateOf(client, createRequest(longPath(), null))).error).toBe(0);
    await create(client, '/sequential');
    const sequential = fullMulti(() => '/sequential/', CreateFlag.persistentSequential);
    const reply = await client.request(OpCode.multi, MultiRequest, sequential);
    expect(multiFailed(reply)).toBe(false);
    const names = await fillDirectory(client);
    const [other, ...others] = LARGEST_ACL;
    const tooLarge = [{ perms: 31, scheme: 'digest', id: `${other?.id}x` }, ...others];
    for (const [acl, error] of [
      [tooLarge, ErrorCode.invalidAcl],
      [LARGEST_ACL, ErrorCode.ok],
    ] as const) {
      const reply = await sendCreateOf(client, { ...createRequest('/acl', null), acl });
      expect(reply.error).toBe(error);
    }

    const over = await useClient(home);
    const refused = sendCreateOf(over, createOf('/over', FRAME_BYTES_MAX + 1));
    await expect(refused).rejects.toThrow(ConnectionLost);
    expect(await exists(client, '/over')).toBeUndefined();

    await away.kill();
    await create(client, '/while-away');
    await bringBackBySnapshot(ensemble, away);
    await expectReadBack(away, largest, names);
    await ensemble.sameState();
    for (const member of ensemble.members) await member.kill();
    ensemble.start();
    await ensemble.serving();
    for (const member of ensemble.members) await expectReadBack(member, largest, names);
    await ensemble.sameState();
  },
  TEST_DEADLINE_MS,
);

it(
  'a session with more ephemerals than a frame could list is closed, replayed and removed everywhere',
  async () => {
    const ensemble = await useServingEnsemble({ settings: PATIENT, environment: NO_OLD_LOG });
    const [member] = await ensemble.followers();
    if (member === undefined) throw new Error('there is a follower');
    const owner = await useClient(member);
    await create(owner, '/e');
    for (const part of ['a', 'b', 'c']) {
      const multi = fullMulti(
        (index) => `/e/${part}${'-'.repeat(60)}${10_000 + index}`,
        CreateFlag.ephemeral,
      );
      expect(multiFailed(await owner.request(OpCode.multi, MultiRequest, multi))).toBe(false);
    }
    const client = await useClient(member);
    const listed = await childrenOf(client, '/e');
    expect(listed.body.length).toBeGreaterThan(FRAME_BYTES_MAX);
    await owner.close();
    for (const each of ensemble.members) await each.kill();
    ensemble.start();
    await ensemble.serving();
    await ensemble.sameState();
    for (const each of ensemble.members) {
      const reader = await useClient(each);
      await sync(reader);
      const left = await childrenOf(reader, '/e');
      expect(decode(GetChildrenResponse, left.body).children).toEqual([]);
    }
  },
  TEST_DEADLINE_MS,
);

it(
  'with the largest frames that can be configured, a znode that fills one is sent in a SNAP as well',
  async () => {
    const frameBytesMax = 32 << 20;
    const settings = { frameBytesMax, peerTimeoutMs: 5_000 };
    const ensemble = await useServingEnsemble({
      settings,
      tickTimeMs: 2_000,
      environment: NO_OLD_LOG,
    });
    const [away] = await ensemble.followers();
    if (away === undefined) throw new Error('there is a follower');
    const [home] = ensemble.members.filter((member) => member !== away);
    if (home === undefined) throw new Error('there is another member');
    const client = await useClient(home);
    const requests = ['/one', '/two'].map((path) => createOf(path, frameBytesMax));
    const replies = await Promise.all(requests.map((request) => sendCreateOf(client, request)));
    expect(replies.map((reply) => reply.error)).toEqual([0, 0]);
    await ensemble.sameState();
    await away.kill();
    await bringBackBySnapshot(ensemble, away);
    await ensemble.sameState();
    const reader = await useClient(away);
    const read = { path: '/two', watch: false };
    const { body } = await reader.request(OpCode.getData, PathWatchRequest, read);
    expect(decode(GetDataResponse, body).data?.length).toBe(requests[1]?.data?.length);
  },
  TEST_DEADLINE_MS,
);

it(
  'a burst of large writes from many clients at every member is answered, and no link breaks',
  async () => {
    const ensemble = await useServingEnsemble({ settings: PATIENT, tickTimeMs: 2_000 });
    const clients = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        useClient(ensemble.member((index % 3) + 1), { timeoutMs: 10_000 }),
      ),
    );
    const answers = clients.flatMap((client, index) => {
      const large = createOf(`/burst-${index}`, 1_000_000);
      return [
        sendCreateOf(client, large),
        ...[1, 2].map(() => sendSetData(client, large.path, 'x'.repeat(900_000))),
      ];
    });
    const all = Promise.all(answers);
    const replies = await within('all answers', SYNC_DEADLINE_MS, all);
    expect(new Set(replies.map((reply) => reply.error))).toEqual(new Set([0]));
    for (const member of ensemble.members) {
      expect(member.log()).not.toMatch(/peer\.queue_overflow|role\.ended/);
    }
    await ensemble.sameState();
  },
  TEST_DEADLINE_MS,
);

it(
  'with a limit of a single outstanding request every client is still answered',
  async () => {
    const ensemble = await useServingEnsemble({ settings: { globalOutstandingLimit: 1 } });
    const clients = await Promise.all(
      Array.from({ length: 12 }, (_, index) => useClient(ensemble.member((index % 3) + 1))),
    );
    const answers = clients.flatMap((client, index) =>
      client.pipeline(() => [
        sendCreateOf(client, createRequest(`/n${index}`, null)),
        ...Array.from({ length: 20 }, () => sendSetData(client, `/n${index}`, 'x')),
      ]),
    );
    const replies = await within('all answers', SYNC_DEADLINE_MS, Promise.all(answers));
    expect(replies.map((reply) => reply.error)).toEqual(replies.map(() => 0));
    for (const [index, client] of clients.entries()) {
      expect((await exists(client, `/n${index}`))?.version).toBe(20);
    }
    await ensemble.sameState();
  },
  TEST_DEADLINE_MS,
);

it(
  'connections that come too fast are closed without a reply, and accepted again later',
  async () => {
    const settings = { connectionTokensMax: TOKENS, connectionTokensPerSecond: 1 };
    const ensemble = await useServingEnsemble({ size: 1, settings });
    const port = ensemble.member(1).clientPort;
    const first = await WireClient.connect({ port });
    // The number of attempts is not limited: only a machine that needs a second for each refuses
    // none.
    const attempts = Array.from({ length: 10 * TOKENS }, () => WireClient.connect({ port }));
    const outcomes = await Promise.allSettled(attempts);
    const others = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    const refused = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    expect(others.length).toBeGreaterThanOrEqual(TOKENS - 1);
    expect(refused.length).toBeGreaterThan(0);
    for (const reason of refused) expect(reason).toBeInstanceOf(ConnectionLost);
    await Promise.all(others.map((client) => client.close()));
    const session = await until('a token is available again', CLOSED_DEADLINE_MS, async () => {
      const client = await WireClient.connect({ port });
      await client.close();
      return client.session;
    });
    expect(session.timeoutMs).toBeGreaterThan(0);
    expect(first.open).toBe(true);
    const rejected = await ensemble.metric('zk_connection_rejected');
    expect(rejected).toBeGreaterThanOrEqual(refused.length);
    await first.close();
  },
  TEST_DEADLINE_MS,
);
