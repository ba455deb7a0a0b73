/**
 * Goal: `rookery top` is correct and readable in a terminal of 80 x 24 while members are killed and
 * come back. Method: tmux shows the screen; the answers for scripts are compared with their schema.
 */
import { connect } from '@rookery/client';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { ShellUser } from '../../client/shell/shell-command.js';
import { newTestDirectory, useServingEnsemble } from '../../harness/ensemble.js';
import { mayLack } from '../../harness/foreign.js';
import { productUnderTest } from '../../harness/product.js';
import { Terminal, TMUX } from '../../harness/terminal.js';

const skipped = mayLack(TMUX);

beforeAll(() => {
  if (skipped) console.log('skipped: tmux is not installed');
});

it.skipIf(skipped)('shows all members while they are killed and come back', async () => {
  const ensemble = await useServingEnsemble();
  const addresses = ensemble.ports.map((port) => `127.0.0.1:${port}`);
  // A member of ZooKeeper comes to the epoch of its leader with the first transaction.
  const client = await connect(addresses.join(','));
  await client.create('/first');
  await client.close();
  const terminal = await Terminal.start(
    ['top', '--connect', addresses.join(','), '--interval', '1'],
    {},
  );
  const leader = await ensemble.leader();
  const first = await terminal.shows(/^3 of 3 serve, \S+ leads/m);
  expect(first).toMatch(new RegExp(`^3 of 3 serve, 127.0.0.1:${leader.clientPort} leads`));
  for (const address of addresses) {
    expect(first).toMatch(new RegExp(`^${address} +(leader|follower) +\\d+:[\\da-f]+ +\\d+ `, 'm'));
  }

  await terminal.press('Right', 'Right');
  await terminal.shows(/sort \(ZXID\)/);
  await terminal.press('r');
  await terminal.shows(/ZXID↑/);

  const gone = `127.0.0.1:${leader.clientPort}`;
  await leader.kill();
  await terminal.shows(new RegExp(`^${gone} +down +connect ECONNREFUSED`, 'm'));
  const second = await terminal.shows(/^2 of 3 serve, \S+ leads/m);
  expect(second).not.toContain(`${gone} leads`);
  for (const address of addresses) expect(second).toContain(`\n${address} `);

  const [other] = ensemble.members.filter((member) => member !== leader);
  await other?.kill();
  await terminal.shows(/^0 of 3 serve, no leader/m);
  const third = await terminal.shows(/down +it has no quorum and serves no clients/);
  expect(third.split('\n').length).toBeLessThanOrEqual(24);

  ensemble.start([leader.id]);
  await terminal.shows(/^2 of 3 serve, \S+ leads/m);
  await terminal.press('q');
  expect(await terminal.shows(/\[ended with 0\]/)).not.toContain('serve');
});

it('answers scripts with --once, on either product', async () => {
  const ensemble = await useServingEnsemble();
  const hosts = ensemble.ports.map((port) => `127.0.0.1:${port}`).join(',');
  const user = new ShellUser(hosts, newTestDirectory());
  const leader = await ensemble.leader();
  const rows = await user.json(['top', '--once', '--interval', '1', '--sort', 'role']);
  expect(rows).toHaveLength(3);
  expect(rows).toContainEqual(
    expect.objectContaining({
      address: `127.0.0.1:${leader.clientPort}`,
      role: 'leader',
      problem: null,
      lag: 0,
      requestsPerS: expect.any(Number),
    }),
  );
  for (const member of ensemble.members) await member.kill();
  const none = await user.run(['top', '--once', '--interval', '1']);
  expect(none.code).toBe(4);
  expect(none.out.match(/ down .*ECONNREFUSED/g)).toHaveLength(3);
  const live = await user.run(['top']);
  expect(live).toMatchObject({ code: 2, out: '' });
  expect(live.said).toContain('use top --once here');
});

it.skipIf(skipped || productUnderTest().name === 'apache')(
  'shows the hottest paths and clients of an admin port, and says where there is none',
  async () => {
    const { members, ports } = await useServingEnsemble({ size: 1, operated: true });
    const hosts = `127.0.0.1:${ports[0]}`;
    const url = `http://127.0.0.1:${members[0]?.adminPort}`;
    const client = await connect(hosts);
    onTestFinished(() => client.close());
    await client.create('/hot');
    const terminal = await Terminal.start(['top', '--url', url, '--interval', '1'], {});
    // The members are those that the admin port names.
    await terminal.shows(new RegExp(`^1 of 1 serve, ${hosts} leads`, 'm'));
    await terminal.press('p');
    const asks = new AbortController();
    const asking = (async () => {
      while (!asks.signal.aborted) await client.getData('/hot');
    })();
    // If the test fails before it waits for this, the client is closed.
    asking.catch(() => undefined);
    await terminal.shows(/^ +\d[\d.k]* +(-|\d[\d.]*) \/hot$/m);
    await terminal.press('c');
    const session = `0x${client.session?.id.toString(16)}`;
    await terminal.shows(new RegExp(`^ +\\d\\S* +1 ${session} 127\\.0\\.0\\.1:\\d+$`, 'm'));
    await terminal.press('q');
    await terminal.shows(/\[ended with 0\]/);

    const user = new ShellUser(hosts, newTestDirectory());
    const paths = await user.json(['top', '--once', '--url', url, '--page', 'paths']);
    expect(paths).toContainEqual(expect.objectContaining({ path: '/hot' }));
    asks.abort();
    await asking;
    const none = await user.run(['top', '--once', '--page', 'clients']);
    expect(none).toMatchObject({ code: 2, out: '' });
    expect(none.said).toContain('Give --url http://host:port, the admin port of a member');
  },
);
