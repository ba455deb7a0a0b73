/**
 * A name server that answers nothing delays only what nobody knows.
 *
 * Five members know each other by names. Mount namespaces give each a /etc/hosts and a
 * /etc/resolv.conf of its own: a lookup of whatever is not in the hosts file hangs for as long as
 * the C library asks the name server again, some 20 seconds. Two members are dead and their names
 * are unknown; a third one that restarts must find the rest as soon as when their names are known.
 * Needs Linux and root.
 */
import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { useEnsemble } from '../harness/ensemble.js';
import { skipOrFail } from '../harness/foreign.js';
import { type Product, productNamed, productUnderTest } from '../harness/product.js';

/** Not that of systemd's resolver, 127.0.0.53. */
const NAME_SERVER = '127.29.22.53';
const NAME_SERVER_PORT = 53;
/** The C library gives a question up no sooner, by the options below. */
const LOOKUP_MS = 10_000;
const nameOf = (id: number) => `rookery-${id}.test`;

const canMount = spawnSync('unshare', ['--mount', 'true']).status === 0;

/** Rookery, its members in mount namespaces of their own and known by their names. */
const named: Product = {
  ...productNamed('rookery'),
  prepare(layout) {
    const servers = layout.servers.map((server) => ({ ...server, host: nameOf(server.id) }));
    const command = productNamed('rookery').prepare({ ...layout, servers });
    const hosts = hostsFile(layout.directory);
    const resolver = join(layout.directory, 'resolv.conf');
    writeFileSync(resolver, `nameserver ${NAME_SERVER}\noptions timeout:5 attempts:2\n`);
    const script =
      `mount --bind ${hosts} /etc/hosts && mount --bind ${resolver} /etc/resolv.conf && ` +
      'exec "$@"';
    return {
      ...command,
      file: 'unshare',
      args: ['--mount', 'sh', '-c', script, 'sh', command.file, ...command.args],
    };
  },
};

function hostsFile(directory: string): string {
  return join(directory, 'hosts');
}

/** In place, as a bind mount shows the file and not its name. */
function writeHosts(directory: string, ids: readonly number[]): void {
  const lines = ['127.0.0.1 localhost', ...ids.map((id) => `127.0.0.1 ${nameOf(id)}`)];
  writeFileSync(hostsFile(directory), `${lines.join('\n')}\n`);
}

it('a member that restarts while the names of two dead ones hang serves again', async ({
  skip,
  onTestFinished,
}) => {
  if (productUnderTest().name === 'apache') skip('this asks for what Rookery promises');
  if (!canMount) skipOrFail(skip, 'mount namespaces cannot be made here');
  const silent = createSocket('udp4');
  onTestFinished(() => {
    silent.close();
  });
  await new Promise<void>((resolve, reject) => {
    silent.once('error', reject);
    silent.bind(NAME_SERVER_PORT, NAME_SERVER, resolve);
  });
  let questions = 0;
  silent.on('message', () => {
    questions += 1;
  });

  const ensemble = await useEnsemble({ size: 5, product: named });
  writeHosts(ensemble.directory, ensemble.ids);
  ensemble.start();
  await ensemble.serving();
  // The member with the higher id dials: member 5 dials all others.
  await Promise.all([1, 2].map((id) => ensemble.member(id).kill()));
  const restartMs = async (): Promise<number> => {
    await ensemble.member(5).kill();
    const startedMs = performance.now();
    ensemble.start([5]);
    await ensemble.serving([3, 4, 5]);
    return performance.now() - startedMs;
  };
  const ordinaryMs = await restartMs();
  expect(questions).toBe(0);
  writeHosts(ensemble.directory, [3, 4, 5]);
  const hangingMs = await restartMs();
  expect(questions, 'lookups that nobody answered').toBeGreaterThan(0);
  // About as long: it has waited for no lookup.
  expect(hangingMs - ordinaryMs).toBeLessThan(LOOKUP_MS / 2);
});
