/**
 * Members find each other by name, also if a name is published after they start, or changes its
 * address.
 *
 * Each member listens for clients on every address, and for the other members on the address of its
 * name alone, so a member that does not look a name up again does not find the other. Needs Linux
 * and root.
 */
import { expect, it } from 'vitest';
import { useEnsemble } from '../../harness/ensemble.js';
import { skipOrFail } from '../../harness/foreign.js';
import { canMount, idsAt, namedMembers, nameOf, writeHosts } from '../../harness/named-members.js';
import { productUnderTest } from '../../harness/product.js';

const TEST_DEADLINE_MS = 60_000;
const product = namedMembers({ entry: (id) => ({ listen: '*', peerListen: nameOf(id) }) });

it(
  'a member waits for its name to resolve, and others find it after it has moved',
  async ({ skip }) => {
    if (productUnderTest().name === 'apache') skip('this tests a promise of Rookery alone');
    if (!canMount) skipOrFail(skip, 'mount namespaces cannot be created on this machine');
    const ensemble = await useEnsemble({ size: 3, product });
    const { directory } = ensemble;
    writeHosts(directory, idsAt('127.0.0.1', [2, 3]));
    ensemble.start();
    const first = ensemble.member(1);
    await first.waitForLog(/server\.name_unknown/, TEST_DEADLINE_MS);
    writeHosts(directory, idsAt('127.0.0.1', [1, 2, 3]));
    await first.waitForLog(/server\.name_resolved/, TEST_DEADLINE_MS);
    await ensemble.serving();

    // The others dial the member with the lowest id, and keep running.
    await first.kill();
    writeHosts(directory, new Map([...idsAt('127.0.0.1', [2, 3]), [1, '127.0.0.33']]));
    ensemble.start([1]);
    await ensemble.serving();
    expect(await ensemble.member(1).stop()).toMatchObject({ code: 0 });
  },
  TEST_DEADLINE_MS,
);

it(
  'a member that waits for its name to resolve can be stopped at once',
  async ({ skip }) => {
    if (productUnderTest().name === 'apache') skip('this tests a promise of Rookery alone');
    if (!canMount) skipOrFail(skip, 'mount namespaces cannot be created on this machine');
    const ensemble = await useEnsemble({ size: 3, product });
    writeHosts(ensemble.directory, new Map());
    ensemble.start([1]);
    const first = ensemble.member(1);
    await first.waitForLog(/server\.name_unknown/, TEST_DEADLINE_MS);
    expect(await first.stop()).toMatchObject({ code: 0 });
  },
  TEST_DEADLINE_MS,
);
