/**
 * A directory of 100,000 names, whose list is larger than a frame, is read in pages while it
 * changes: each name that stays comes exactly once, at the leader and at a follower.
 */
import {
  decode,
  GetChildrenPageRequest,
  GetChildrenPageResponse,
  OpCode,
  type Stat,
} from '@rookery/protocol';
import { expect, it } from 'vitest';
import { bulk } from '../harness/bulk.js';
import { useServingEnsemble } from '../harness/ensemble.js';
import { create, sendCreate, sendDelete } from '../harness/operations.js';
import { productUnderTest } from '../harness/product.js';
import { useClient } from '../harness/use-client.js';
import type { WireClient } from '../harness/wire-client.js';

const COUNT = 100_000;
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
      const churn = comeAndGo(writer, () => listing);
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

/** Names of its own between the others, made and deleted as long as somebody lists. */
async function comeAndGo(writer: WireClient, goesOn: () => boolean): Promise<void> {
  for (let round = 0; goesOn(); round++) {
    const paths = Array.from(
      { length: 64 },
      (_, index) => `/big/${nameOf((round * 997 + index * 1_511) % COUNT)}-${round}`,
    );
    await bulk(paths.length, writer, (index) => sendCreate(writer, paths[index] ?? ''));
    await bulk(paths.length, writer, (index) => sendDelete(writer, paths[index] ?? ''));
  }
}

function nameOf(index: number): string {
  return `name-${String(index).padStart(8, '0')}`;
}
