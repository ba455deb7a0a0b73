/**
 * Secrets and certificates that cannot be used at the start: one clear sentence, exit code 2, and
 * nothing written.
 */
import { chmodSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { newTestDirectory, useServingEnsemble } from '../harness/ensemble.js';
import { freePorts } from '../harness/ports.js';
import { runServerToEnd } from '../harness/run-to-end.js';
import { TestAuthority, type TestCertificate } from '../simulated.js';

let certificate: TestCertificate;
let authority: TestAuthority;
beforeAll(() => {
  const directory = newTestDirectory();
  authority = new TestAuthority(directory);
  certificate = authority.server();
  return () => rmSync(directory, { recursive: true, force: true });
});

/** What the member says to these settings before it ends. */
async function refusal(settings: object): Promise<string> {
  const directory = newTestDirectory();
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const [clientPort, peerPort] = await freePorts(2);
  const servers = [{ id: 1, host: '127.0.0.1', clientPort, peerPort }];
  const file = join(directory, 'config.json');
  writeFileSync(file, JSON.stringify({ dataDir: './data', servers, ...settings }));
  const { code, said } = await runServerToEnd(file, 1);
  expect(code, said).toBe(2);
  expect(existsSync(join(directory, 'data'))).toBe(false);
  return said;
}

it('a private key that others can read is refused', async () => {
  const { certFile, keyFile } = certificate;
  chmodSync(keyFile, 0o644);
  const said = await refusal({ tls: { certFile, keyFile } });
  chmodSync(keyFile, 0o600);
  expect(said).toContain(`The private key ${keyFile} is open to other users (its mode is 0644).`);
  expect(said).toContain(`chmod 600 ${keyFile}`);
  expect(said).not.toContain('PRIVATE KEY-----');
});

it('no file or directory of a member is open to other users', async () => {
  const ensemble = await useServingEnsemble({ size: 1 });
  const [member] = ensemble.members;
  const found = readdirSync(member?.dataDir ?? '', { recursive: true, withFileTypes: true });
  expect(found.length).toBeGreaterThan(4);
  const open = found.filter((entry) => {
    return (statSync(join(entry.parentPath, entry.name)).mode & 0o077) !== 0;
  });
  expect(open.map(({ name }) => name)).toEqual([]);
  expect(statSync(member?.dataDir ?? '').mode & 0o777).toBe(0o700);
});

it('a missing certificate, and one without its key, are refused', async () => {
  const { keyFile } = certificate;
  expect(await refusal({ tls: { certFile: 'nowhere.pem', keyFile } })).toMatch(
    /The certificate .*nowhere\.pem cannot be read: there is no such file\./,
  );
  const { certFile } = authority.server('other');
  expect(await refusal({ tls: { certFile, keyFile } })).toContain('they do not belong together');
});
