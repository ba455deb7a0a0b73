/**
 * A member's certificate is replaced while it runs and clients write: by a broken file, which
 * changes nothing but is told, then by a good one. No connection is lost and no write fails.
 */
import { copyFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectTls } from 'node:tls';
import { connect } from '@rookery/client';
import { expect, it, onTestFinished } from 'vitest';
import { newTestDirectory, useServingEnsemble } from '../../harness/ensemble.js';
import { httpGet } from '../../harness/http.js';
import { until } from '../../harness/wait.js';
import { TestAuthority } from '../../simulated.js';

const DEADLINE_MS = 30_000;

it('follows its files, keeps what it has while they are broken, and loses nobody', async () => {
  const directory = newTestDirectory();
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const authority = new TestAuthority(directory);
  const [first, second] = [authority.server('first'), authority.server('second')];
  const { certFile, keyFile } = first;
  const settings = { tls: { certFile, keyFile } };
  const ensemble = await useServingEnsemble({ size: 1, secure: true, operated: true, settings });
  const member = ensemble.member(1);
  const port = member.secureClientPort;
  const shown = () =>
    new Promise<string>((resolve, reject) => {
      const socket = connectTls({ port, host: 'localhost', ca: authority.ca }, () => {
        resolve(socket.getPeerX509Certificate()?.subject ?? 'none');
        socket.destroy();
      });
      socket.on('error', reject);
    });
  const isStale = async () => {
    const { text: body } = await httpGet(member.metricsPort, '/metrics');
    return /^rookery_tls_certificate_stale 1$/m.test(body);
  };
  const client = await connect(`localhost:${port}`, { tls: { ca: authority.ca } });
  onTestFinished(() => client.close());
  const states: string[] = [];
  client.onState((change) => states.push(change.state));
  let writes = 0;
  let isOver = false;
  const writing = (async () => {
    while (!isOver) await client.create(`/n-${writes++}`, '');
  })();
  expect(await shown()).toBe('CN=first');
  writeFileSync(certFile, 'no certificate');
  await until('the member has noticed the broken file', DEADLINE_MS, async () => {
    return (await isStale()) || undefined;
  });
  expect(await shown()).toBe('CN=first');
  expect(member.log()).toContain('files.not_reloaded');
  copyFileSync(second.certFile, certFile);
  copyFileSync(second.keyFile, keyFile);
  await until('the member shows the new certificate', DEADLINE_MS, async () => {
    return (await shown()) === 'CN=second' || undefined;
  });
  expect(await isStale()).toBe(false);
  isOver = true;
  await writing;
  expect(writes).toBeGreaterThan(10);
  expect(states).toEqual([]);
});
