/**
 * Goal: `rookery sh` in a real terminal does what its page says, and goes on whatever happens to
 * the ensemble. Method: keys are pressed in tmux, and the screen is read.
 */
import { connect } from '@rookery/client';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { useServingEnsemble } from '../harness/ensemble.js';
import { mayLack } from '../harness/foreign.js';
import { productUnderTest } from '../harness/product.js';
import { Terminal, TMUX } from '../harness/terminal.js';

const skipped = productUnderTest().name === 'apache' || mayLack(TMUX);
const COMPLETION_MS = 100;
const CHILDREN = 1_000_000;
const CREATES_PER_MULTI = 2_000;
const MULTIS_IN_FLIGHT = 4;

beforeAll(() => {
  if (skipped) console.log('skipped: tmux is not installed');
});

async function shell(size: number, args: readonly string[] = []) {
  const ensemble = await useServingEnsemble({ size });
  const hosts = ensemble.ports.map((port) => `127.0.0.1:${port}`).join(',');
  const client = await connect(hosts);
  onTestFinished(() => client.close());
  const terminal = await Terminal.start(['sh', '--connect', hosts, ...args], {});
  await terminal.shows(/Connected to 127\.0\.0\.1:\d+\.\n/);
  return { ensemble, client, terminal };
}

it.skipIf(skipped)('walks, completes, recalls and ends', async () => {
  const { client, terminal } = await shell(1);
  for (const path of ['/app', '/app/config', '/app/configuration', '/app/z']) {
    await client.create(path, 'data');
  }
  await terminal.enter('cd app');
  await terminal.shows(/rookery:\/app>$/m);
  await terminal.enter('ls');
  await terminal.shows(/> ls\nconfig\nconfiguration\nz\nrookery/);
  await terminal.type('get con');
  await terminal.press('Tab');
  await terminal.shows(/> get config$/m);
  await terminal.pressUntil('Tab', /config +configuration/);
  await terminal.type('ur');
  await terminal.press('Tab');
  await terminal.shows(/> get configuration$/m);
  await terminal.press('Enter');
  await terminal.shows(/^data$/m);
  await terminal.enter('get nothing');
  await terminal.shows(/^\/app\/nothing does not exist\.$/m);
  await terminal.enter('dance');
  await terminal.shows(/unknown command 'dance'/);
  await terminal.enter('create --ephemeral mine');
  await terminal.shows(/Created it/);
  expect((await client.exists('/app/mine'))?.ephemeralOwner).not.toBe(0n);
  await terminal.enter('rm -r /app/config');
  await terminal.shows(/Delete 1 znodes .*\? \[y\/N\]/);
  await terminal.enter('n');
  await terminal.shows(/Nothing is deleted/);
  await terminal.enter('watch -r /app');
  await terminal.shows(/Watching \/app/);
  await client.create('/app/new');
  await terminal.shows(/created +\/app\/new/);
  await terminal.press('C-c');
  await terminal.enter('addauth digest me:secret');
  await terminal.shows(/is presented from now on/);
  await terminal.press('Up');
  await terminal.shows(/> (?!addauth).*$/m);
  await terminal.press('C-c');
  await terminal.enter('exit');
  await terminal.shows(/\[ended with 0\]/);
  expect(await client.exists('/app/mine')).toBe(null);
});

it.skipIf(skipped)('says in a sentence that the quorum is lost and back, and goes on', async () => {
  const { ensemble, terminal } = await shell(3, ['--timeout', '5']);
  for (const id of [1, 2]) await ensemble.member(id).kill();
  await terminal.shows(/No quorum in 3 s, 1 of 3 servers\s+can be reached/);
  await terminal.enter('ls /');
  await terminal.shows(/No server answered in time|connection is lost\.$/m);
  ensemble.start([1, 2]);
  await ensemble.serving();
  await terminal.shows(/Connected again to/);
  await terminal.enter('ls /');
  await terminal.shows(/> ls \/\nzookeeper\nrookery/);
});

it.skipIf(skipped)('completes among a million znodes within 100 ms, as among five', async () => {
  const { client, terminal } = await shell(1);
  await client.create('/few');
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
  const completionMs = async (path: string): Promise<number> => {
    await client.create(`${path}-target`);
    await terminal.type(`stat ${path}`);
    await terminal.shows(new RegExp(`${path}$`, 'm'));
    const began = performance.now();
    await terminal.press('Tab');
    await terminal.shows(new RegExp(`${path}-target$`, 'm'));
    const tookMs = performance.now() - began;
    await terminal.press('C-c');
    return tookMs;
  };
  const [few, big]: [number[], number[]] = [[], []];
  for (let n = 0; n < 5; n++) {
    few.push(await completionMs(`/few/${n}`));
    // In the middle of the others.
    big.push(await completionMs(`/big/n05x${n}`));
  }
  console.log(`completed in ${big.map((ms) => ms.toFixed(0)).join(', ')} ms`);
  // What a busy machine takes for the terminal alone is no fault of the shell.
  expect(Math.min(...big) - Math.min(...few)).toBeLessThan(COMPLETION_MS);
  await terminal.type('stat /big/');
  await terminal.pressUntil('Tab', /\(and more\)/);
});

function nameOf(index: number): string {
  return `/big/n${String(index).padStart(7, '0')}`;
}
