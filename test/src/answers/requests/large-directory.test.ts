/**
 * A directory whose list of children is larger than a frame is read in pages. With 100,000 names
 * that change meanwhile, each name that stays is listed exactly once, at the leader and at a
 * follower. 260,000 names take more windows than a member keeps.
 */
import {
  CreateFlag,
  decode,
  GetChildrenPageRequest,
  GetChildrenPageResponse,
  MultiRequest,
  OpCode,
  Perms,
  type Stat,
} from '@rookery/protocol';
import { expect, it } from 'vitest';
import { bulk } from '../../harness/bulk.js';
import { useServingEnsemble } from '../../harness/ensemble.js';
import { create, sendCreate, sendDelete, sync } from '../../harness/operations.js';
import { productUnderTest } from '../../harness/product.js';
import { useClient } from '../../harness/use-client.js';
import type { Reply, WireClient } from '../../harness/wire-client.js';

const COUNT = 100_000;
/** More than the windows of the server's child-pages.ts hold together. */
const HUGE_COUNT = 260_000;
const CREATES_PER_MULTI = 1_000;
const LIMIT = 10_000;
const FRAME_BYTES = 1_048_575;

interface Listing {
  readonly names: readonly string[];
  readonly pages: number;
  readonly last: Stat;
}

it.skipIf(productUnderTest().name === 'apache')(
  '100,000 names are listed in pages while others come and go',
  async () => {
    const ensemble = await useServingEnsemble();
    const leader = await ensemble.leader();
    const [follower] = await ensemble.followers();
    if (follower === undefined) throw new Error('there is no follower');
    const writer = await useClient(leader, { recording: false });
    await create(writer, '/big');
    const stays = Array.from({ length: COUNT }, (_, index) => nameOf(index));
    await bulk(COUNT, writer, (index) => sendCreate(writer, `/big/${nameOf(index)}`));

    for (const member of [leader, follower]) {
      const reader = await useClient(member);
      let listing = true;
      const first = await come(writer, 0);
      await sync(reader);
      const churn = comeAndGo(writer, first, () => listing);
      const { names, pages, last } = await list(reader);
      listing = false;
      await churn;
      expect(names.filter((name, index) => index > 0 && name <= (names[index - 1] ?? ''))).toEqual(
        [],
      );
      const seen = new Set(names);
      expect(stays.filter((name) => !seen.has(name))).toEqual([]);
      expect(pages).toBeGreaterThan(COUNT / LIMIT);
      expect(last.numChildren).toBeGreaterThanOrEqual(COUNT);
    }
    expect(stays.join('').length + 4 * COUNT).toBeGreaterThan(FRAME_BYTES);
  },
  180_000,
);

it.skipIf(productUnderTest().name === 'apache')(
  '260,000 names are listed in pages, in order and each exactly once',
  async () => {
    const ensemble = await useServingEnsemble({ size: 1 });
    const client = await useClient(ensemble.member(1), { recording: false });
    await create(client, '/big');
    // The names are created in descending order, so the order of creation cannot explain the
    // result.
    await bulk(HUGE_COUNT / CREATES_PER_MULTI, client, (index) => {
      return sendCreates(client, HUGE_COUNT - (index + 1) * CREATES_PER_MULTI);
    });
    const { names, last } = await list(client);
    expect(last.numChildren).toBe(HUGE_COUNT);
    expect(names).toHaveLength(HUGE_COUNT);
    expect(names.findIndex((name, index) => name !== nameOf(index))).toBe(-1);
  },
  180_000,
);

function sendCreates(client: WireClient, first: number): Promise<Reply> {
  const acl = [{ perms: Perms.all, scheme: 'world', id: 'anyone' }];
  const ops = Array.from({ length: CREATES_PER_MULTI }, (_, index) => {
    const path = `/big/${nameOf(first + index)}`;
    const request = { path, data: null, acl, flags: CreateFlag.persistent };
    return { opcode: OpCode.create, request };
  });
  return client.request(OpCode.multi, MultiRequest, { ops });
}

async function list(reader: WireClient): Promise<Listing> {
  const names: string[] = [];
  for (let pages = 1; ; pages++) {
    const startAfter = names.at(-1) ?? '';
    const request = { path: '/big', startAfter, limit: LIMIT, watch: false };
    const reply = await reader.request(OpCode.getChildrenPage, GetChildrenPageRequest, request);
    expect(reply.error).toBe(0);
    expect(reply.body.length).toBeLessThan(FRAME_BYTES);
    const { children, more, stat } = decode(GetChildrenPageResponse, reply.body);
    names.push(...children);
    if (!more) return { names, pages, last: stat };
  }
}

/**
 * Other names between the stable ones, created and deleted as long as somebody lists. One round of
 * them exists at any time, spread over the directory, so that every page contains some.
 */
async function comeAndGo(
  writer: WireClient,
  first: readonly string[],
  goesOn: () => boolean,
): Promise<void> {
  let present = first;
  for (let round = 1; goesOn(); round++) {
    const next = await come(writer, round);
    await go(writer, present);
    present = next;
  }
  await go(writer, present);
}

async function come(writer: WireClient, round: number): Promise<readonly string[]> {
  const paths = Array.from(
    { length: 64 },
    (_, index) => `/big/${nameOf((round * 997 + index * 1_511) % COUNT)}-${round}`,
  );
  await bulk(paths.length, writer, (index) => sendCreate(writer, paths[index] ?? ''));
  return paths;
}

async function go(writer: WireClient, paths: readonly string[]): Promise<void> {
  await bulk(paths.length, writer, (index) => sendDelete(writer, paths[index] ?? ''));
}

function nameOf(index: number): string {
  return `name-${String(index).padStart(8, '0')}`;
}
