/**
 * A session that owns very many ephemerals ends.
 */
import { CreateFlag, Empty, MultiRequest, OpCode } from '@rookery/protocol';
import { create, exists } from '../harness/operations.js';
import { until } from '../harness/wait.js';
import { WireClient } from '../harness/wire-client.js';
import type { PlayOptions, Scenario } from './scenario.js';
import { type PlayNotes, Stage } from './stage.js';

const EPHEMERALS = 1_000_000;
const EPHEMERALS_SHORT = 50_000;
const AT_ONCE = 500;
const IN_FLIGHT = 4;
const GAP_MS_MAX = 250;
const END_DEADLINE_MS = 300_000;
const ACL = [{ perms: 31, scheme: 'world', id: 'anyone' }];

export const manyEphemerals: Scenario = {
  name: 'many-ephemerals',
  promise: 'a session with a million ephemerals ends: writes go on, no leader falls',
  async play({ report, isShort }: PlayOptions) {
    const count = isShort ? EPHEMERALS_SHORT : EPHEMERALS;
    const stage = await Stage.set();
    try {
      const owner = await WireClient.connect({
        port: stage.ensemble.member(1).clientPort,
        recording: false,
      });
      await create(owner, '/many');
      await createEphemerals(owner, count);
      const bounds = { gapMsMax: GAP_MS_MAX };
      const fault = `a session with ${count} ephemerals ends`;
      report(await stage.play(fault, bounds, (notes) => endSession(stage, owner, notes)));
    } finally {
      await stage.strike();
    }
  },
};

async function endSession(stage: Stage, owner: WireClient, notes: PlayNotes): Promise<void> {
  const other = await WireClient.connect({ port: stage.ensemble.member(2).clientPort });
  void owner.request(OpCode.closeSession, Empty, null).catch(() => undefined);
  await until('all ephemerals are gone', END_DEADLINE_MS, async () =>
    (await exists(other, '/many'))?.numChildren === 0 ? true : undefined,
  );
  await notes.observe();
  await other.close();
}

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
      const { error } = await client.request(OpCode.multi, MultiRequest, { ops });
      if (error !== 0) throw new Error(`creating ephemerals was answered with ${error}`);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, createSome));
}
