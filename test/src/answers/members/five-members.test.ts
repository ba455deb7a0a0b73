/**
 * Of five members the ensemble continues when two are killed, and stops acknowledging when three
 * are down.
 */
import { expect, it, onTestFinished } from 'vitest';
import { useServingEnsemble } from '../../harness/ensemble.js';
import { sendCreate } from '../../harness/operations.js';
import { expectNothingLost } from '../../harness/verify.js';
import { until, within } from '../../harness/wait.js';
import { WireClient } from '../../harness/wire-client.js';
import { WriteLoad } from '../../harness/write-load.js';

const TEST_DEADLINE_MS = 150_000;
const DEADLINE_MS = 30_000;

it(
  'five members continue without their leader and one more, and lose nothing',
  async () => {
    const ensemble = await useServingEnsemble({ size: 5 });
    const load = new WriteLoad({ ports: ensemble.ports });
    await load.start();
    const leader = await ensemble.leader();
    const other = (await ensemble.followers())[0];
    if (other === undefined) throw new Error('there is no follower');

    await Promise.all([leader.kill(), other.kill()]);
    await load.progress(500, DEADLINE_MS);
    ensemble.start([leader.id, other.id]);
    await ensemble.serving();
    await load.progress(200, DEADLINE_MS);
    await load.stop();
    await expectNothingLost(ensemble, load.ledgers);
  },
  TEST_DEADLINE_MS,
);

it(
  'two of five acknowledge nothing and serve nobody until a third is back',
  async () => {
    const ensemble = await useServingEnsemble({ size: 5 });
    const [first, second, ...rest] = ensemble.members;
    if (first === undefined || second === undefined) throw new Error('five are needed');
    const client = await WireClient.connect({ port: first.clientPort });
    onTestFinished(() => client.drop());
    await Promise.all(rest.map((member) => member.kill()));
    const attempt = sendCreate(client, '/without-quorum').catch(() => undefined);
    await within('the end of the connection', DEADLINE_MS, client.closed);
    expect(await attempt, 'an answer without a quorum').toBeUndefined();
    await until('neither of the two serves', DEADLINE_MS, async () => {
      const statuses = await Promise.all([first.status(), second.status()]);
      return statuses.every((status) => status === undefined) || undefined;
    });
    const [third] = rest;
    if (third === undefined) throw new Error('five are needed');
    ensemble.start([third.id]);
    await ensemble.serving();
    await ensemble.sameState();
  },
  TEST_DEADLINE_MS,
);
