/**
 * Goal: an ensemble that serves begins to require that members authenticate each other, and its
 * secret is replaced, and no client loses a write by it.
 *
 * Members are restarted one after the other, as an operator does it, under a load of writes and of
 * registers whose histories are searched for linearizability. A change of secrets needs no restart:
 * no leader may change by it, although links are cut and made anew in every mixture of secrets.
 */
import { randomBytes } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Ensemble, useEnsemble, useServingEnsemble } from '../../harness/ensemble.js';
import type { Member } from '../../harness/member.js';
import { configurePeerAuth } from '../../harness/peer-auth.js';
import { RegisterLoad } from '../../harness/register-load.js';
import { expectNothingLost } from '../../harness/verify.js';
import { until } from '../../harness/wait.js';
import { WriteLoad } from '../../harness/write-load.js';

const DEADLINE_MS = 60_000;
const TEST_MS = 300_000;
const WRITES = 100;
const OPERATIONS = 50;
const newSecret = () => randomBytes(32).toString('base64');

/** Writes the secrets of a member, a line for each, as an operator does: in one piece. */
function keepSecrets({ directory }: Ensemble, { id }: Member, ...secrets: readonly string[]): void {
  const path = secretFile(id);
  writeFileSync(join(directory, `${path}.new`), `${secrets.join('\n')}\n`, { mode: 0o600 });
  renameSync(join(directory, `${path}.new`), join(directory, path));
}

const secretFile = (id: number) => `secret-${id}`;

function authOf({ id }: Member, required = true): object {
  return { secretFile: secretFile(id), required };
}

it(
  'an ensemble begins to require a secret by restarts of its members, and ceases again',
  async () => {
    const ensemble = await useServingEnsemble();
    const writes = new WriteLoad({ ports: ensemble.ports });
    const registers = new RegisterLoad(ensemble.ports);
    await writes.start();
    await registers.start();
    const secret = newSecret();
    for (const member of ensemble.members) keepSecrets(ensemble, member, secret);
    const progress = async () => {
      await writes.progress(WRITES, DEADLINE_MS);
      await registers.progress(OPERATIONS, DEADLINE_MS);
    };
    const roll = async (authFor: (member: Member) => object | string) => {
      for (const member of ensemble.members) {
        configurePeerAuth(ensemble, member, authFor(member));
        await member.stop();
        await progress();
        member.start();
        await ensemble.serving(ensemble.ids);
        await progress();
      }
    };
    await roll((member) => authOf(member, false));
    await roll((member) => authOf(member));
    const [first, second] = ensemble.members;
    if (first === undefined || second === undefined) throw new Error('two members are needed');
    // A member whose file still says nothing is not let in any more.
    configurePeerAuth(ensemble, first, 'none');
    await first.stop();
    const mark = first.logMark();
    first.start();
    await first.waitForLog(/set peerAuth.*peer\.refused_by/, DEADLINE_MS, mark);
    await progress();
    expect(await first.status()).toBeUndefined();
    configurePeerAuth(ensemble, first, authOf(first));
    await first.stop();
    first.start();
    await ensemble.serving(ensemble.ids);
    await roll((member) => authOf(member, false));
    await roll(() => 'none');
    await writes.stop();
    await registers.stop();
    expect(registers.verdicts()).toEqual(Array(4).fill('linearizable'));
    await expectNothingLost(ensemble, writes.ledgers);
  },
  TEST_MS,
);

it(
  'a secret is replaced under load: no restart, no election and no lost write',
  async () => {
    const ensemble = await useEnsemble({ proxied: true });
    const former = newSecret();
    const next = newSecret();
    for (const member of ensemble.members) {
      keepSecrets(ensemble, member, former);
      configurePeerAuth(ensemble, member, authOf(member));
    }
    ensemble.start();
    await ensemble.serving();
    const writes = new WriteLoad({ ports: ensemble.ports });
    await writes.start();
    const leader = await ensemble.leader();
    const { epoch } = await leadership(leader);
    const followers = await ensemble.followers();

    /** Every link of a follower is made anew, by whatever secrets there are now. */
    const meetAnew = async (follower: Member) => {
      const mark = follower.logMark();
      ensemble.network.healWithReset(follower.id);
      await follower.waitForLog(/role\.serving/, DEADLINE_MS, mark);
      await ensemble.serving(ensemble.ids);
      await writes.progress(WRITES, DEADLINE_MS);
    };
    const change = async (member: Member, event: RegExp, ...secrets: readonly string[]) => {
      const mark = member.logMark();
      keepSecrets(ensemble, member, ...secrets);
      await member.waitForLog(event, DEADLINE_MS, mark);
    };
    for (const secrets of [[former, next], [next]]) {
      for (const member of ensemble.members) {
        await change(member, /files\.reloaded/, ...secrets);
        for (const follower of followers) await meetAnew(follower);
      }
    }
    // A file that cannot be used leaves what was read before.
    const [follower] = followers;
    if (follower === undefined) throw new Error('a follower is needed');
    await change(follower, /characters.*files\.not_reloaded/, 'short');
    await meetAnew(follower);
    expect(await leadership(leader)).toEqual({ epoch, mode: 'leader' });

    // Who has only the former secret is a stranger now.
    keepSecrets(ensemble, follower, former);
    await follower.stop();
    const mark = follower.logMark();
    follower.start();
    await follower.waitForLog(/secrets of the two members.*peer\.refused/, DEADLINE_MS, mark);
    await writes.progress(WRITES, DEADLINE_MS);
    expect(await follower.status()).toBeUndefined();
    await change(follower, /files\.reloaded/, next);
    await ensemble.serving(ensemble.ids);
    expect(await leadership(leader)).toEqual({ epoch, mode: 'leader' });
    await writes.stop();
    await expectNothingLost(ensemble, writes.ledgers);
    for (const member of ensemble.members) {
      for (const secret of [former, next]) expect(member.log()).not.toContain(secret);
    }
  },
  TEST_MS,
);

async function leadership(member: Member): Promise<{ epoch: bigint; mode: string }> {
  const status = await until('the leader tells its state', DEADLINE_MS, () => member.status());
  return { epoch: BigInt(status.zxid) >> 32n, mode: status.mode };
}
