/**
 * Clients that know nothing of Rookery: kazoo (Python), zkCli.sh (Java) and cli_mt (C).
 *
 * Each creates, reads, sets, lists, watches and deletes through a different member of one ensemble.
 * The changes that trigger watches are made through another member than the watcher's.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { Conversation } from '../../harness/conversation.js';
import { Ensemble, SERVING_DEADLINE_MS } from '../../harness/ensemble.js';
import { CLI_MT, mayLack, mayLackKazoo, PYTHON, ZK_CLI } from '../../harness/foreign.js';
import { exists, getData, remove, setData, sync } from '../../harness/operations.js';
import { useClient } from '../../harness/use-client.js';

const KAZOO_SCRIPT = new URL('../../e2e/fixtures/kazoo_clients.py', import.meta.url).pathname;
const KAZOO_DEADLINE_MS = 180_000;
const TEST_DEADLINE_MS = 240_000;

let ensemble: Ensemble;

beforeAll(async () => {
  ensemble = await Ensemble.create();
  ensemble.start();
  await ensemble.serving();
}, SERVING_DEADLINE_MS * 2);

afterAll(async () => {
  await ensemble.close();
});

it.skipIf(await mayLackKazoo())(
  'kazoo creates, reads, sets, lists, watches and deletes through all three members',
  async () => {
    const { stdout } = await promisify(execFile)(
      PYTHON,
      [KAZOO_SCRIPT, ...ensemble.ports.map((port) => `127.0.0.1:${port}`)],
      { timeout: KAZOO_DEADLINE_MS },
    );
    expect(stdout).toContain('everything as expected');
  },
  TEST_DEADLINE_MS,
);

it.skipIf(mayLack(ZK_CLI))(
  'zkCli.sh creates, reads, sets, lists, watches and deletes through the second member',
  async () => {
    const other = await useClient(ensemble.member(3));
    const server = `127.0.0.1:${ensemble.member(2).clientPort}`;
    const cli = useConversation(ZK_CLI, ['-server', server, '-waitforconnection']);
    await cli.expect(/Welcome to ZooKeeper!/);
    await cli.ask('create /java first', /Created \/java\n/);
    await cli.ask('get -s /java', /first\ncZxid = 0x[0-9a-f]+\n[\s\S]*numChildren = 0\n/);
    await cli.ask('set -s /java second', /dataVersion = 1\n/);
    await cli.ask('ls /', /\[(.*, )?java(, .*)?\]/);
    await cli.ask('create -e -s /java/lock- x', /Created \/java\/lock-0000000000\n/);
    await cli.ask('get -w /java', /second\n/);
    await setData(other, '/java', 'third');
    await cli.expect(/type:NodeDataChanged path:\/java/);
    await cli.ask('get /java', /third\n/);
    await cli.ask('get /nowhere', /Node does not exist: \/nowhere/);
    await cli.ask('deleteall /java', /^/);
    await cli.ask('stat /java', /Node does not exist: \/java/);
    await sync(other);
    expect(await exists(other, '/java')).toBeUndefined();
  },
  TEST_DEADLINE_MS,
);

it.skipIf(mayLack(CLI_MT))(
  'cli_mt creates, reads, sets, lists, watches and deletes through the third member',
  async () => {
    const other = await useClient(ensemble.member(1));
    const server = `127.0.0.1:${ensemble.member(3).clientPort}`;
    // It buffers its output when it does not run in a terminal.
    const cli = useConversation('stdbuf', ['-oL', CLI_MT, '-h', server]);
    await cli.expect(/state = CONNECTED_STATE/);
    await cli.ask('create /c', /\[\/c\]: rc = 0\n/);
    await cli.ask('get /c', /\/c: rc = 0\n value_len = 3\n/);
    await cli.ask('set /c second', /\/c: rc = 0 Stat:[\s\S]*version=1/);
    await cli.ask('ls /', /rc = 0\n(\t.*\n)*\tc\n/);
    await cli.ask('create +es /c/seq-', /name = \/c\/seq-0000000000\n/);
    await cli.ask('delete /c/seq-0000000000', /\/c\/seq-0000000000: rc = 0/);
    // Its `get` always sets a watch; its own `set` has used up the first one.
    await cli.ask('get /c', /second\n/);
    await setData(other, '/c', 'third');
    await cli.expect(/Watcher CHANGED_EVENT state = CONNECTED_STATE for path \/c/);
    await cli.ask('get /c', /third\n/);
    await remove(other, '/c');
    await cli.expect(/Watcher DELETED_EVENT state = CONNECTED_STATE for path \/c/);
    await cli.ask('delete /c', /\/c: rc = -101/);
    await cli.ask('quit', /Quitting/);
  },
  TEST_DEADLINE_MS,
);

it('the three members hold the same tree afterwards', async () => {
  const clients = await Promise.all(ensemble.ids.map((id) => useClient(ensemble.member(id))));
  for (const client of clients) await sync(client);
  const roots = await Promise.all(clients.map((client) => getData(client, '/')));
  expect(new Set(roots.map((root) => String(root.stat.pzxid))).size).toBe(1);
  await ensemble.sameState();
});

function useConversation(file: string, args: readonly string[]): Conversation {
  const conversation = new Conversation(file, args);
  onTestFinished(() => conversation.close());
  return conversation;
}
