/**
 * A member with a wiped disk must not be taken for one that never had any data.
 *
 * A and B acknowledge a write while C is down; then B loses its disk and A is stopped. C has an
 * older history and B has none: together they are a majority that does not know the write. They
 * must not elect a leader until A is back.
 */
import { expect, it } from 'vitest';
import { useServingEnsemble } from '../../harness/ensemble.js';
import { create, exists, sync } from '../../harness/operations.js';
import { useClient } from '../../harness/use-client.js';
import { never, until } from '../../harness/wait.js';

const TEST_DEADLINE_MS = 120_000;
const SAYS_WHY_DEADLINE_MS = 20_000;
/** Long enough for many election rounds: a candidate would lead in the first one. */
const WATCHED_MS = 4_000;
/** The wiped member has no ensemble id, which is the reason that must be given. */
const REASON = /ensemble id|not founded|no ensemble|unfounded/i;

it(
  'a wiped member and one that missed a write elect nobody until the third is back',
  async () => {
    const ensemble = await useServingEnsemble();
    const [a, b, c] = ensemble.members;
    if (a === undefined || b === undefined || c === undefined) throw new Error('three are needed');
    await c.stop();
    // If C has led, the others need a new leader first.
    await ensemble.leader();
    const client = await useClient(a);
    await create(client, '/acknowledged', 'a write by A and B');
    await Promise.all([a.stop(), b.stop()]);
    ensemble.wipe(b.id);

    const marks = new Map([b, c].map((member) => [member, member.logMark()]));
    ensemble.start([b.id, c.id]);
    await until('one of them logs why nobody is elected', SAYS_WHY_DEADLINE_MS, () => {
      const said = [b, c].some((member) => REASON.test(member.log().slice(marks.get(member))));
      return said || undefined;
    });
    await never('an election', WATCHED_MS, async () => {
      const modes = await Promise.all([b, c].map(async (member) => (await member.status())?.mode));
      return modes.find((mode) => mode !== undefined);
    });

    ensemble.start([a.id]);
    await ensemble.serving();
    for (const member of ensemble.members) {
      const reader = await useClient(member);
      await sync(reader);
      expect(await exists(reader, '/acknowledged'), `member ${member.id}`).toBeDefined();
    }
    await ensemble.sameState();
  },
  TEST_DEADLINE_MS,
);

it(
  'three members that start for the first time found an ensemble only when all are up',
  async () => {
    const ensemble = await useServingEnsemble();
    for (const member of ensemble.members) await member.stop();
    for (const id of ensemble.ids) ensemble.wipe(id);
    ensemble.start([1, 2]);
    await never('a founding without the third', WATCHED_MS, async () => {
      const modes = await Promise.all(ensemble.running.map((member) => member.status()));
      return modes.find((status) => status !== undefined)?.mode;
    });
    ensemble.start([3]);
    await ensemble.serving();
    const client = await useClient(ensemble.member(1));
    await create(client, '/founded');
  },
  TEST_DEADLINE_MS,
);
