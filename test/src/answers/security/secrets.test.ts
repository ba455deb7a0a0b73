/**
 * Secrets and certificates that cannot be used at the start: one clear sentence, exit code 2, and
 * nothing written.
 */
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { newTestDirectory, useServingEnsemble } from '../../harness/ensemble.js';
import { freePorts } from '../../harness/ports.js';
import { ROOKERY_MAIN } from '../../harness/product.js';
import { runServerToEnd } from '../../harness/run-to-end.js';
import { TestAuthority, type TestCertificate } from '../../simulated.js';

const run = promisify(execFile);

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

it('nothing of a member, a backup or a restore is open to other users', async () => {
  const ensemble = await useServingEnsemble({ size: 1 });
  const { dataDir } = ensemble.member(1);
  expect(openIn(dataDir, 4)).toEqual([]);
  await ensemble.member(1).stop();
  const backups = join(ensemble.directory, 'backups');
  const config = join(ensemble.directory, 'config-1.json');
  await run(process.execPath, [
    ROOKERY_MAIN,
    'backup',
    'save',
    backups,
    '--config',
    config,
    '--id',
    '1',
  ]);
  expect(openIn(backups, 1)).toEqual([]);
  const [backup = ''] = readdirSync(backups).filter((name) => name.endsWith('.gz'));
  rmSync(dataDir, { recursive: true });
  await run(process.execPath, [ROOKERY_MAIN, 'restore', join(backups, backup), '--config', config]);
  expect(openIn(dataDir, 4)).toEqual([]);
});

/**
 * Which of the directory itself and what is below it has permissions for other users. There must be
 * more than so many files and directories below it.
 */
function openIn(directory: string, moreThan: number): readonly string[] {
  const found = readdirSync(directory, { recursive: true }).map((name) =>
    join(directory, `${name}`),
  );
  expect(found.length).toBeGreaterThan(moreThan);
  return [directory, ...found].filter((path) => (statSync(path).mode & 0o077) !== 0);
}

it('a missing certificate, and one without its key, are refused', async () => {
  const { keyFile } = certificate;
  expect(await refusal({ tls: { certFile: 'nowhere.pem', keyFile } })).toMatch(
    /The certificate .*nowhere\.pem cannot be read: there is no such file\./,
  );
  const { certFile } = authority.server('other');
  expect(await refusal({ tls: { certFile, keyFile } })).toContain('they do not belong together');
});
