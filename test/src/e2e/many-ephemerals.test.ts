/**
 * A session that owns 100,000 ephemerals is closed: the ensemble serves other clients meanwhile,
 * who see the ephemerals disappear gradually, and nobody is elected; then a session with half as
 * many expires. ROOKERY_EPHEMERALS sets another number; the bench closes a session with a million.
 *
 * The numbers of children that a second client sees show that it was served in between, however
 * long anything takes.
 */
import { CreateFlag, Empty, ErrorCode, MultiRequest, OpCode } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { useServingEnsemble } from '../harness/ensemble.js';
import { create, exists, setData } from '../harness/operations.js';
import { productUnderTest } from '../harness/product.js';
import { useClient } from '../harness/use-client.js';
import { within } from '../harness/wait.js';
import type { WireClient } from '../harness/wire-client.js';

const MANY = Number(process.env['ROOKERY_EPHEMERALS'] ?? 100_000);
const AT_ONCE = 500;
const MULTIS_IN_FLIGHT = 4;
const ACL = [{ perms: 31, scheme: 'world', id: 'anyone' }];
const END_DEADLINE_MS = 150_000;
const TEST_DEADLINE_MS = 400_000;

async function createEphemerals(client: WireClient, count: number): Promise<void> {
  let next = 0;
  const createSome = async (): Promise<void> => {
    while (next < count) {
      const first = next;
      next += AT_ONCE;
      const ops = Array.from({ length: AT_ONCE }, (_, at) => ({
        opcode: OpCode.create,
        request: {
          path: `/many/e${first + at}`,
          data: null,
          acl: ACL,
          flags: CreateFlag.ephemeral,
        },
      }));
      const reply = await client.request(OpCode.multi, MultiRequest, { ops });
      expect(reply.error).toBe(ErrorCode.ok);
    }
  };
  await Promise.all(Array.from({ length: MULTIS_IN_FLIGHT }, createSome));
}

/**
 * Writes and reads until all ephemerals are gone; returns the numbers of ephemerals that it saw.
 */
async function watchThemGo(client: WireClient): Promise<readonly number[]> {
  const shown: number[] = [];
  for (let round = 0; shown.at(-1) !== 0; round++) {
    await setData(client, '/good', `${round}`);
    shown.push((await exists(client, '/many'))?.numChildren ?? -1);
  }
  return shown;
}

function expectBitByBit(shown: readonly number[], count: number): void {
  const between = new Set(shown.filter((left) => left > 0 && left < count));
  expect(between.size).toBeGreaterThan(20);
  expect([...shown].sort((a, b) => b - a)).toEqual(shown);
}

it.skipIf(productUnderTest().name === 'apache')(
  'the end of a session with very many ephemerals blocks nobody and causes no election',
  async () => {
    const ensemble = await useServingEnsemble({ settings: { peerTimeoutMs: 20_000 } });
    const [leader, [first, second]] = [await ensemble.leader(), await ensemble.followers()];
    if (first === undefined || second === undefined) throw new Error('there are two followers');
    const good = await useClient(second);
    await create(good, '/good');
    await create(good, '/many');

    const closing = await useClient(first, { recording: false });
    await createEphemerals(closing, MANY);
    const epoch = epochOf(good);
    const answered = closing.request(OpCode.closeSession, Empty, null);
    const shown = await within('the ephemerals disappear', END_DEADLINE_MS, watchThemGo(good));
    expect((await answered).error).toBe(ErrorCode.ok);
    expectBitByBit(shown, MANY);

    const expiring = await useClient(leader, { recording: false, timeoutMs: 4_000 });
    await createEphemerals(expiring, MANY / 2);
    await expiring.drop();
    expectBitByBit(
      await within('the ephemerals expire', END_DEADLINE_MS, watchThemGo(good)),
      MANY / 2,
    );

    expect(good.open).toBe(true);
    expect(epochOf(good)).toBe(epoch);
    expect(await ensemble.leader()).toBe(leader);
    await ensemble.sameState();
  },
  TEST_DEADLINE_MS,
);

function epochOf(client: WireClient): number {
  return Math.floor(Number(client.lastZxid) / 2 ** 32);
}
