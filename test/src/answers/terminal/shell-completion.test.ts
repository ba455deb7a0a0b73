/**
 * Goal: the Tab key of `rookery sh` completes names in a large directory. Method: keys are pressed
 * in tmux, and the screen is read.
 *
 * The times are printed and not judged: how many names a page looks at is what
 * server/src/state/memory/child-pages.test.ts asserts. To measure, make the directory larger: set
 * `ROOKERY_TEST_CHILDREN=1000000`.
 */
import { it } from 'vitest';
import { mayLack } from '../../harness/foreign.js';
import { productUnderTest } from '../../harness/product.js';
import { useShell } from '../../harness/shell-session.js';
import { TMUX } from '../../harness/terminal.js';

const skipped = productUnderTest().name === 'apache' || mayLack(TMUX);
const CHILDREN = Number(process.env['ROOKERY_TEST_CHILDREN'] ?? 20_000);
const TRIES = 3;
const DEADLINE_MS = 20_000;
const CREATES_PER_MULTI = 2_000;
const MULTIS_IN_FLIGHT = 4;

it.skipIf(skipped)('completes names in a large directory', async () => {
  const { client, terminal } = await useShell(1);
  await client.create('/big');
  let next = 0;
  const createSome = async (): Promise<void> => {
    while (next < CHILDREN) {
      const first = next;
      next += CREATES_PER_MULTI;
      const paths = Array.from({ length: CREATES_PER_MULTI }, (_, n) => nameOf(first + n));
      await client.multi(paths.map((path) => ({ kind: 'create', path })));
    }
  };
  await Promise.all(Array.from({ length: MULTIS_IN_FLIGHT }, createSome));
  const times: number[] = [];
  for (let n = 0; n < TRIES; n++) {
    // In the middle of the others.
    await client.create(`/big/n05x${n}-target`);
    await terminal.type(`stat /big/n05x${n}`);
    await terminal.shows(new RegExp(`n05x${n}$`, 'm'));
    const began = performance.now();
    await terminal.press('Tab');
    const isCompleted = new RegExp(`n05x${n}-target$`, 'm');
    // There is no pause between two looks, because it would be a part of the time.
    while (!isCompleted.test(await terminal.screen())) {
      if (performance.now() - began > DEADLINE_MS) throw new Error('Tab completes nothing.');
    }
    times.push(performance.now() - began);
    await terminal.press('C-c');
  }
  console.log(`completed in ${times.map((ms) => ms.toFixed(0)).join(', ')} ms`);
  await terminal.type('stat /big/');
  await terminal.pressUntil('Tab', /\(and more\)/);
});

function nameOf(index: number): string {
  return `/big/n${String(index).padStart(7, '0')}`;
}
