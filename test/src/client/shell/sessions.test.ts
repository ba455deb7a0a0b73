/**
 * Goal: `rookery sessions` shows who is connected, what a session owns and watches, on both
 * products by four-letter words; of Rookery also at the admin port, where a session can be ended.
 */
import { connect } from '@rookery/client';
import { expect, it, onTestFinished } from 'vitest';
import { newTestDirectory, useServingEnsemble } from '../../harness/ensemble.js';
import { productUnderTest } from '../../harness/product.js';
import { until } from '../../harness/wait.js';
import { ShellUser } from './shell-command.js';

const isApache = productUnderTest().name === 'apache';
const ADMIN = { ROOKERY_ADMIN_USER: 'ops:hunter2' };
const ADMIN_USERS = ['ops:1vdFRDCql3UzcxJ7kySyFCmtSF0='];

async function connected(port: number | undefined) {
  const client = await connect(`127.0.0.1:${port}`);
  onTestFinished(() => client.close());
  return { client, session: `0x${BigInt.asUintN(64, client.session?.id ?? 0n).toString(16)}` };
}

it('lists the sessions of all servers, and tells what one owns and watches', async () => {
  const ensemble = await useServingEnsemble(
    isApache ? {} : { operated: true, settings: { adminUsers: ADMIN_USERS } },
  );
  const hosts = ensemble.ports.map((port) => `127.0.0.1:${port}`);
  const user = new ShellUser(hosts.join(','), newTestDirectory());
  const [first, second] = [await connected(ensemble.ports[0]), await connected(ensemble.ports[1])];
  await first.client.create('/mine', 'x', { mode: 'ephemeral' });
  // Another member may not have applied the create yet.
  await second.client.sync('/mine');
  await second.client.getData('/mine', { watcher: () => undefined });
  const listed = await user.json(['sessions', 'ls']);
  const local = expect.stringMatching(/^127\.0\.0\.1:\d+$/);
  expect(listed).toContainEqual(
    expect.objectContaining({
      session: first.session,
      server: hosts[0],
      address: local,
      ephemerals: 1,
    }),
  );
  expect(listed).toContainEqual(
    expect.objectContaining({ session: second.session, server: hosts[1], ephemerals: 0 }),
  );
  // Without another word, the sessions are listed.
  const table = await user.run(['sessions']);
  expect(table.out).toMatch(new RegExp(`^${first.session} +127`, 'm'));
  expect(await user.json(['sessions', 'get', first.session])).toMatchObject({
    ephemeralPaths: ['/mine'],
    watched: [],
  });
  expect(await user.json(['sessions', 'get', second.session])).toMatchObject({
    ephemeralPaths: [],
    watched: [{ path: '/mine', mode: null }],
  });
  const none = await user.run(['sessions', 'get', '0x1']);
  expect([none.code, none.said]).toEqual([3, 'rookery: There is no session 0x1.\n']);
  const wrong = await user.run(['sessions', 'get', 'mine']);
  expect([wrong.code, wrong.said]).toEqual([2, expect.stringContaining('a session in hex')]);
  const nowhere = await user.run(['sessions', 'end', first.session]);
  expect([nowhere.code, nowhere.said]).toEqual([2, expect.stringContaining('admin port')]);
  if (isApache) return;

  // Any member has the leader end it.
  const [follower] = await ensemble.followers();
  const environment = ADMIN;
  const url = `http://127.0.0.1:${follower?.adminPort}`;
  const asked = await user.run(['sessions', 'get', second.session, '--url', url, '-o', 'json'], {
    environment,
  });
  expect(user.check('sessions get', JSON.parse(asked.out))).toMatchObject({
    session: second.session,
    server: hosts[1],
    ephemeralPathsTruncated: false,
    watchedTruncated: false,
  });
  const stranger = await user.run(['sessions', '--url', url]);
  expect([stranger.code, stranger.said]).toEqual([2, expect.stringContaining('ADMIN_USER')]);
  const unasked = await user.run(['sessions', 'end', first.session, '--url', url], { environment });
  expect([unasked.code, unasked.said]).toEqual([2, expect.stringContaining('--yes')]);
  expect(await second.client.exists('/mine')).not.toBe(null);
  const loss = new Promise((resolve) => {
    first.client.onState(({ state, lossCause }) => {
      if (state === 'lost') resolve(lossCause);
    });
  });
  const ended = await user.run(
    ['sessions', 'end', first.session, '--yes', '--url', url, '-o', 'json'],
    { environment },
  );
  expect([ended.code, ended.said]).toEqual([0, expect.stringContaining('1 ephemeral znode')]);
  expect(user.check('sessions end', JSON.parse(ended.out))).toMatchObject({ ephemerals: 1 });
  await until('what it owned is gone', 20_000, async () => {
    return (await second.client.exists('/mine')) === null ? true : undefined;
  });
  expect(await loss).toBe('ended');
});
