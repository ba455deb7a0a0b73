/**
 * Goal: certificates of a member and of a client come to their end while clients write and others
 * come and go. Who is connected stays and loses nothing; who comes later is refused and both sides
 * are told why; with a new certificate in place everybody is let in again. Method: certificates
 * that end a few seconds after they are made. If a machine is so busy that they end before they are
 * in use, others with a longer life are made.
 */
import { execFile } from 'node:child_process';
import { copyFileSync, rmSync } from 'node:fs';
import { connect as connectTls } from 'node:tls';
import { type Client, connect } from '@rookery/client';
import { expect, it, onTestFinished } from 'vitest';
import { newTestDirectory, useServingEnsemble } from '../../harness/ensemble.js';
import { httpGet } from '../../harness/http.js';
import { until } from '../../harness/wait.js';
import { TestAuthority, type TestCertificate } from '../../simulated.js';

const DEADLINE_MS = 60_000;
const ATTEMPT_MS = 1_000;
/** Long enough for a member to notice new files, which takes it four seconds at most. */
const LIFE_MS = 7_000;

it('refuses nobody who is connected when a certificate expires, and tells others why', async () => {
  const directory = newTestDirectory();
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const authority = new TestAuthority(directory);
  const [used, lasting] = [authority.server('used'), authority.server('lasting')];
  const { ca, caFile } = authority;
  const good = authority.client('good');
  const { certFile, keyFile } = used;
  const settings = { tls: { certFile, keyFile, caFile, clientAuth: 'need' } };
  const ensemble = await useServingEnsemble({ size: 1, secure: true, operated: true, settings });
  const member = ensemble.member(1);
  const port = member.secureClientPort;
  const install = (certificate: TestCertificate) => {
    copyFileSync(certificate.certFile, certFile);
    copyFileSync(certificate.keyFile, keyFile);
  };
  const connected = (own: TestCertificate) =>
    connect(`localhost:${port}`, {
      tls: { ca, cert: own.cert, key: own.key },
      connectDeadlineMs: ATTEMPT_MS,
    });
  const figure = async (name: string) => {
    const { text } = await httpGet(member.metricsPort, '/metrics');
    const line = text.split('\n').find((one) => one.startsWith(name)) ?? `${name} NaN`;
    return Number(line.slice(line.lastIndexOf(' ')));
  };
  const refusals = (reason: string) =>
    figure(`rookery_tls_handshake_failures_total{reason="${reason}"`);
  const refused = () =>
    member
      .log()
      .split('\n')
      .filter((line) => line.includes('"tls.refused"'));
  const isTold = (what: string, reason: RegExp) =>
    until(what, DEADLINE_MS, () => refused().some((line) => reason.test(line)) || undefined);

  /** Certificates that end soon, one in use by the member and one by a client that is connected. */
  const ending = async (lifeMs: number): Promise<{ own: TestCertificate; client: Client }> => {
    const endsWallMs = Date.now() + lifeMs;
    const extensions = 'subjectAltName=DNS:localhost,IP:127.0.0.1';
    install(authority.sign(`member-${lifeMs}`, { extensions, endsWallMs }));
    const own = authority.sign(`client-${lifeMs}`, { endsWallMs });
    await until('the member has read its new certificate', DEADLINE_MS, async () => {
      const ends = await figure('rookery_tls_certificate_expiry_seconds');
      return ends === Math.floor(endsWallMs / 1000) || undefined;
    });
    try {
      return { own, client: await connected(own) };
    } catch (error) {
      if (Date.now() < endsWallMs) throw error;
      return ending(2 * lifeMs);
    }
  };
  const { own, client } = await ending(LIFE_MS);
  onTestFinished(() => client.close());
  const states: string[] = [];
  client.onState((change) => states.push(change.state));
  let [writes, accepted, isOver] = [0, 0, false];
  const reasons: string[] = [];
  const writing = (async () => {
    while (!isOver) await client.create(`/n-${writes++}`, '');
  })();
  const coming = (async () => {
    while (!isOver) {
      await connected(good).then(
        async (other) => {
          await other.create(`/other-${accepted}`, '');
          await other.close();
          accepted += 1;
        },
        (error: unknown) => reasons.push(reasonsOf(error)),
      );
    }
  })();

  // Whoever waits for them hears it.
  for (const load of [writing, coming]) load.catch(() => undefined);

  await until('the member says that its certificate has expired', DEADLINE_MS, () => {
    return member.log().includes('"tls.certificate_expired"') || undefined;
  });
  // A client that does not trust the member is told why, and the member by a client that says so.
  await until('a newcomer is told that the certificate has expired', DEADLINE_MS, () => {
    return reasons.some((reason) => reason.includes('certificate has expired')) || undefined;
  });
  await dialByOpenssl(port, good, caFile);
  await isTold('the member hears why', /"kind":"alert","reason":"[^"]*CERTIFICATE_EXPIRED/i);
  expect(await refusals('alert')).toBeGreaterThan(0);
  // A member that does not trust a client says so, whatever that thinks of the member.
  const before = await refusals('bad_certificate');
  await dialAnyway(port, own);
  await isTold('the member says why', /"kind":"bad_certificate","reason":"CERT_HAS_EXPIRED"/);
  expect(await refusals('bad_certificate')).toBeGreaterThan(before);
  const [writesThen, acceptedThen] = [writes, accepted];
  await until('who is connected goes on', DEADLINE_MS, () => writes > writesThen + 10 || undefined);
  expect(accepted).toBe(acceptedThen);

  install(lasting);
  await until(
    'newcomers are let in again',
    DEADLINE_MS,
    () => accepted > acceptedThen || undefined,
  );
  expect(await figure('rookery_tls_certificate_expiry_seconds')).toBeGreaterThan(Date.now() / 1000);
  isOver = true;
  await Promise.all([writing, coming]);
  expect(states).toEqual([]);
});

/** The messages of an error and of its causes. */
function reasonsOf(error: unknown): string {
  return error instanceof Error ? `${error.message} ${reasonsOf(error.cause)}` : '';
}

/** It sends an alert with the reason, as most clients do that are not made with Node. */
function dialByOpenssl(port: number, own: TestCertificate, caFile: string): Promise<void> {
  const args = ['s_client', '-connect', `localhost:${port}`, '-verify_return_error'];
  const proof = ['-CAfile', caFile, '-cert', own.certFile, '-key', own.keyFile];
  return new Promise((resolve) => {
    execFile('openssl', [...args, ...proof], () => resolve()).stdin?.end();
  });
}

/** Resolves once the member has closed the connection. */
function dialAnyway(port: number, { cert, key }: TestCertificate): Promise<void> {
  return new Promise((resolve) => {
    const socket = connectTls({ port, host: 'localhost', cert, key, rejectUnauthorized: false });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
    socket.resume();
  });
}
