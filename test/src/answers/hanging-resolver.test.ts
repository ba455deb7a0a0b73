/**
 * A name server that never answers delays only the lookup of unknown names.
 *
 * Five members know each other by names: a lookup of a name that is not in their hosts file hangs
 * until the C library has asked the name server again, about 20 seconds. Two members are dead and
 * their names are unknown; a third one that restarts must find the rest as quickly as when the
 * names are known. Needs Linux and root.
 */
import { createSocket } from 'node:dgram';
import { expect, it } from 'vitest';
import { useEnsemble } from '../harness/ensemble.js';
import { skipOrFail } from '../harness/foreign.js';
import { canMount, idsAt, namedMembers, writeHosts } from '../harness/named-members.js';
import { productUnderTest } from '../harness/product.js';

/** A loopback address other than that of systemd's resolver, 127.0.0.53. */
const NAME_SERVER = '127.29.22.53';
const NAME_SERVER_PORT = 53;
/** The C library does not give up a query earlier, with the options below. */
const LOOKUP_MS = 10_000;
it('a member that restarts serves again although lookups of two dead members hang', async ({
  skip,
  onTestFinished,
}) => {
  if (productUnderTest().name === 'apache') skip('this tests a promise of Rookery alone');
  if (!canMount) skipOrFail(skip, 'mount namespaces cannot be created on this machine');
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
  expect(questions).toBe(0);
  writeHosts(ensemble.directory, idsAt('127.0.0.1', [3, 4, 5]));
  const hangingMs = await restartMs();
  expect(questions, 'the name server received lookups').toBeGreaterThan(0);
  // It took about as long, so it has waited for no lookup.
  expect(hangingMs - ordinaryMs).toBeLessThan(LOOKUP_MS / 2);
});
