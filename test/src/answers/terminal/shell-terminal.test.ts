/**
 * Goal: `rookery sh` in a real terminal does what its page says, and goes on whatever happens to
 * the ensemble. Method: keys are pressed in tmux, and the screen is read.
 */
import { beforeAll, expect, it } from 'vitest';
import { mayLack } from '../../harness/foreign.js';
import { productUnderTest } from '../../harness/product.js';
import { useShell } from '../../harness/shell-session.js';
import { TMUX } from '../../harness/terminal.js';
import { until } from '../../harness/wait.js';

const DEADLINE_MS = 60_000;
/** Longer than the shell's --timeout. */
const ANSWER_MS = 8_000;
const skipped = productUnderTest().name === 'apache' || mayLack(TMUX);

beforeAll(() => {
  if (skipped) console.log('skipped: tmux is not installed');
});

it.skipIf(skipped)('walks, completes, recalls and ends', async () => {
  const { client, terminal } = await useShell(1);
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
  await terminal.shows(/Delete 1 znode .*\? \[y\/N\]/);
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
  const { ensemble, terminal } = await useShell(3, ['--timeout', '5']);
  for (const id of [1, 2]) await ensemble.member(id).kill();
  await terminal.shows(/No quorum in 3 s, 1 of 3 servers\s+can be reached/);
  await terminal.enter('ls /');
  await terminal.shows(/No server answered in time|connection is lost\.$/m);
  ensemble.start([1, 2]);
  await ensemble.serving();
  // Until it is connected again, a command ends after its own five seconds.
  await until('the shell lists again', DEADLINE_MS, async () => {
    await terminal.enter('ls /');
    return await terminal.shows(/^zookeeper$/m, ANSWER_MS);
  });
  await terminal.shows(/Connected again to/);
});
