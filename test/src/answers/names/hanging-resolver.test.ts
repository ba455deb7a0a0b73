/**
 * A name server that never answers delays only the lookup of unknown names, and no command for much
 * longer than its own timeout.
 *
 * Five members know each other by names: a lookup of a name that is not in their hosts file hangs
 * until the C library has asked the name server again, about 20 seconds. Two members are dead and
 * their names are unknown; a third one that restarts must find the rest as quickly as when the
 * names are known. A command is given names that nobody knows. Needs Linux and root.
 */
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { newTestDirectory, useEnsemble } from '../../harness/ensemble.js';
import { skipOrFail } from '../../harness/foreign.js';
import { canMount, idsAt, namedMembers, writeHosts } from '../../harness/named-members.js';
import { productUnderTest, ROOKERY_MAIN } from '../../harness/product.js';
import { ended } from '../../harness/run-to-end.js';

/** A loopback address other than that of systemd's resolver, 127.0.0.53. */
const NAME_SERVER = '127.29.22.53';
const NAME_SERVER_PORT = 53;
/** The C library does not give up a query earlier, with the options below. */
const LOOKUP_MS = 10_000;

it('a member that restarts serves again although lookups of two dead members hang', async ({
  skip,
}) => {
  if (productUnderTest().name === 'apache') skip('this tests a promise of Rookery alone');
  if (!canMount) skipOrFail(skip, 'mount namespaces cannot be created on this machine');
  const asked = await useSilentNameServer();
  const ensemble = await useEnsemble({
    size: 5,
    product: namedMembers({ nameServer: NAME_SERVER }),
  });
  writeHosts(ensemble.directory, idsAt('127.0.0.1', ensemble.ids));
  ensemble.start();
  await ensemble.serving();
  // The member with the higher id dials, so member 5 dials all others.
  await Promise.all([1, 2].map((id) => ensemble.member(id).kill()));
  const restartMs = async (): Promise<number> => {
    await ensemble.member(5).kill();
    const startedMs = performance.now();
    ensemble.start([5]);
    await ensemble.serving([3, 4, 5]);
    return performance.now() - startedMs;
  };
  const ordinaryMs = await restartMs();
  expect(asked.questions).toBe(0);
  writeHosts(ensemble.directory, idsAt('127.0.0.1', [3, 4, 5]));
  const hangingMs = await restartMs();
  expect(asked.questions, 'the name server received lookups').toBeGreaterThan(0);
  // It took about as long, so it has waited for no lookup.
  expect(hangingMs - ordinaryMs).toBeLessThan(LOOKUP_MS / 2);
});

it('a command ends soon after its own timeout although its lookups hang', async ({ skip }) => {
  if (productUnderTest().name === 'apache') skip('this tests a promise of Rookery alone');
  if (!canMount) skipOrFail(skip, 'mount namespaces cannot be created on this machine');
  const asked = await useSilentNameServer();
  const directory = newTestDirectory();
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const resolver = join(directory, 'resolv.conf');
  writeFileSync(resolver, `nameserver ${NAME_SERVER}\n`);
  const names = 'a.rookery.test,b.rookery.test,c.rookery.test';
  const startedMs = performance.now();
  const { code, said } = await runWith(resolver, [
    'status',
    '--connect',
    names,
    '--timeout',
    '500',
  ]);
  const tookMs = performance.now() - startedMs;
  expect(code, said).toBe(1);
  expect(said).toContain('There is no leader');
  expect(asked.questions, 'the name server received lookups').toBeGreaterThan(0);
  expect(tookMs).toBeLessThan(LOOKUP_MS);
});

/** It counts the questions that it receives, and is closed when the test has finished. */
async function useSilentNameServer(): Promise<{ readonly questions: number }> {
  const silent = createSocket('udp4');
  onTestFinished(() => {
    silent.close();
  });
  await new Promise<void>((resolve, reject) => {
    silent.once('error', reject);
    silent.bind(NAME_SERVER_PORT, NAME_SERVER, resolve);
  });
  const asked = { questions: 0 };
  silent.on('message', () => {
    asked.questions += 1;
  });
  return asked;
}

/** Runs a command for which the file is /etc/resolv.conf, until its process has ended. */
function runWith(resolver: string, args: readonly string[]) {
  const script = 'mount --bind "$0" /etc/resolv.conf && exec "$@"';
  const command = ['sh', '-c', script, resolver, process.execPath, ROOKERY_MAIN, ...args];
  // The caller's home and variables may name other servers or limits.
  const env = { PATH: process.env['PATH'], HOME: dirname(resolver) };
  const child = spawn('unshare', ['--mount', ...command], { stdio: 'pipe', env });
  onTestFinished(() => void child.kill('SIGKILL'));
  return ended(child);
}
