/**
 * Goal: members that have certificates let nobody in who has none, or that of another member; an
 * ensemble goes from a secret to certificates, and gets new ones, without a lost write.
 */
import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { expect, it } from 'vitest';
import { type Ensemble, useEnsemble } from '../../harness/ensemble.js';
import type { Member } from '../../harness/member.js';
import { configurePeerAuth } from '../../harness/peer-auth.js';
import { productUnderTest } from '../../harness/product.js';
import { expectNothingLost } from '../../harness/verify.js';
import { until, within } from '../../harness/wait.js';
import { WriteLoad } from '../../harness/write-load.js';
import { TestAuthority, type TestCertificate } from '../../simulated.js';

const DEADLINE_MS = 60_000;
const TEST_MS = 300_000;
const WRITES = 100;

function authorityAt(ensemble: Ensemble, name: string): TestAuthority {
  const directory = join(ensemble.directory, name);
  mkdirSync(directory);
  return new TestAuthority(directory, name);
}

function signed(authority: TestAuthority, id: number, name = `member-${id}`): TestCertificate {
  return authority.sign(name, { extensions: `subjectAltName=URI:rookery://test/${id}` });
}

function tlsOf(authority: TestAuthority, { certFile, keyFile }: TestCertificate) {
  return { certFile, keyFile, caFile: authority.caFile, ensemble: 'test' };
}

/** Whether the member lets somebody finish a handshake and say something. */
function greeted(member: Member, certificate: object): Promise<string> {
  const answer = new Promise<string>((resolve) => {
    const socket = connect({
      host: '127.0.0.1',
      port: member.peerPort,
      rejectUnauthorized: false,
      ...certificate,
    });
    let said = '';
    socket.on('secureConnect', () => socket.write(Buffer.from([0, 0, 0, 1, 0x90])));
    socket.on('data', (chunk) => {
      said += chunk.toString('latin1');
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(said));
  });
  return within('the member closes the connection', DEADLINE_MS, answer);
}

it.skipIf(productUnderTest().name === 'apache')(
  'members with certificates let in neither strangers nor one with the certificate of another',
  async () => {
    const ensemble = await useEnsemble();
    const authority = authorityAt(ensemble, 'authority');
    const foreign = authorityAt(ensemble, 'foreign');
    const certificates = ensemble.members.map(({ id }) => signed(authority, id));
    const use = (member: Member, tls: object) => configurePeerAuth(ensemble, member, { tls });
    ensemble.members.forEach((member, index) => {
      use(member, tlsOf(authority, certificates[index] ?? signed(authority, member.id)));
    });
    ensemble.start();
    await ensemble.serving();
    const writes = new WriteLoad({ ports: ensemble.ports.slice(0, 2) });
    await writes.start();
    const [first, , third] = ensemble.members;
    const [, second] = certificates;
    if (first === undefined || third === undefined || second === undefined) {
      throw new Error('three members are needed');
    }
    expect(await greeted(first, {})).toBe('');
    const { cert, key } = signed(foreign, 3);
    expect(await greeted(first, { cert, key })).toBe('');
    // The certificate of another member, or of another authority, and no certificate at all.
    const { certFile, keyFile } = signed(foreign, 3, 'member-3-again');
    const anotherMembers = { tls: tlsOf(authority, second) };
    const anotherAuthoritys = { tls: { ...tlsOf(authority, second), certFile, keyFile } };
    for (const [peerAuth, listener, event] of [
      [anotherMembers, third, /not that of member 3.*peer\.refused_by/],
      [anotherAuthoritys, first, /bad_certificate.*tls\.refused/],
      ['none', third, /election\.waiting/],
    ] as const) {
      await third.stop();
      configurePeerAuth(ensemble, third, peerAuth);
      const mark = listener.logMark();
      third.start();
      await listener.waitForLog(event, DEADLINE_MS, mark);
      await writes.progress(WRITES, DEADLINE_MS);
      expect(await third.status()).toBeUndefined();
    }
    await third.stop();
    use(third, tlsOf(authority, certificates[2] ?? second));
    third.start();
    await ensemble.serving(ensemble.ids);
    await writes.stop();
    await expectNothingLost(ensemble, writes.ledgers);
  },
  TEST_MS,
);

it.skipIf(productUnderTest().name === 'apache')(
  'an ensemble goes from a secret to certificates under load, and gets new ones without a restart',
  async () => {
    const ensemble = await useEnsemble({ proxied: true });
    const { directory } = ensemble;
    const authority = authorityAt(ensemble, 'authority');
    const secret = randomBytes(32).toString('base64');
    writeFileSync(join(directory, 'peer.secret'), secret, { mode: 0o600 });
    const secretFile = 'peer.secret';
    const tls = new Map(
      ensemble.members.map(({ id }) => [id, tlsOf(authority, signed(authority, id))]),
    );
    for (const member of ensemble.members) configurePeerAuth(ensemble, member, { secretFile });
    ensemble.start();
    await ensemble.serving();
    const writes = new WriteLoad({ ports: ensemble.ports });
    await writes.start();
    for (const authFor of [
      (id: number) => ({ secretFile, tls: tls.get(id) }),
      (id: number) => ({ tls: tls.get(id) }),
    ]) {
      for (const member of ensemble.members) {
        configurePeerAuth(ensemble, member, authFor(member.id));
        await member.stop();
        await writes.progress(WRITES, DEADLINE_MS);
        member.start();
        await ensemble.serving(ensemble.ids);
        await writes.progress(WRITES, DEADLINE_MS);
      }
    }
    const leader = await ensemble.leader();
    const epoch = await epochOf(leader);
    for (const member of ensemble.members) {
      const { certFile, keyFile } = signed(authority, member.id, `renewed-${member.id}`);
      const used = tls.get(member.id);
      if (used === undefined) throw new Error('each member has a certificate');
      const mark = member.logMark();
      for (const [from, to] of [
        [certFile, used.certFile],
        [keyFile, used.keyFile],
      ] as const) {
        copyFileSync(from, `${to}.new`);
        renameSync(`${to}.new`, to);
      }
      await member.waitForLog(/certificate of peerAuth.*files\.reloaded/, DEADLINE_MS, mark);
      for (const follower of await ensemble.followers()) {
        const before = follower.logMark();
        ensemble.network.healWithReset(follower.id);
        await follower.waitForLog(/role\.serving/, DEADLINE_MS, before);
        await ensemble.serving(ensemble.ids);
        await writes.progress(WRITES, DEADLINE_MS);
      }
    }
    expect(await epochOf(leader)).toBe(epoch);
    await writes.stop();
    await expectNothingLost(ensemble, writes.ledgers);
  },
  TEST_MS,
);

async function epochOf(leader: Member): Promise<bigint> {
  const status = await until('the leader tells its state', DEADLINE_MS, () => leader.status());
  expect(status.mode).toBe('leader');
  return status.zxid >> 32n;
}
