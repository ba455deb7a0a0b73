/**
 * Goal: after a restore, every client comes back by itself, and none is refused because it has
 * seen a zxid "from the future". Method: four client libraries are connected (ours, kazoo, Curator
 * and ZooKeeper's C client) while a backup of the running ensemble is taken; they see newer writes,
 * and the same processes go on after the ensemble was wiped and restored.
 *
 * Curator and kazoo open a new session by themselves. The C client of ZooKeeper ends its handle
 * when it is told that the session has expired; one that is refused is never told.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { connect } from '@rookery/client';
import { expect, it, onTestFinished } from 'vitest';
import { compileJava, mayLackCurator } from '../../foreign/curator.js';
import { type DriverCommand, type ForeignActor, ForeignDriver } from '../../foreign/driver.js';
import { Conversation } from '../../harness/conversation.js';
import { useServingEnsemble } from '../../harness/ensemble.js';
import { CLI_MT, mayLack, mayLackKazoo, PYTHON } from '../../harness/foreign.js';
import { ROOKERY_MAIN } from '../../harness/product.js';
import { until } from '../../harness/wait.js';

const TEST_DEADLINE_MS = 180_000;
const DEADLINE_MS = 60_000;
const KAZOO = new URL('../../foreign/kazoo/mixed_driver.py', import.meta.url).pathname;
const ADMIN = { adminUsers: ['ops:1vdFRDCql3UzcxJ7kySyFCmtSF0='] };
const ENVIRONMENT = { ...process.env, ROOKERY_ADMIN_USER: 'ops:hunter2' };
const mayLackOne = mayLackCurator() || mayLack(CLI_MT) || (await mayLackKazoo());

const run = promisify(execFile);

function useDriver(command: DriverCommand, servers: string): ForeignActor {
  const driver = new ForeignDriver({ ...command, args: [...command.args, servers] });
  onTestFinished(() => driver.close());
  return driver.actor();
}

/** Its first field; an operation that failed because of a lost connection is done again. */
async function answerOf(actor: ForeignActor, ...call: readonly [string, ...string[]]) {
  return await until(`an answer to ${call[0]}`, DEADLINE_MS, async () => {
    return await actor.call(...call).then(
      ([first = '']) => first,
      () => undefined,
    );
  });
}

it.skipIf(mayLackOne)(
  'clients of four libraries outlive a restore, and none is refused for what it has seen',
  async () => {
    const settings = { ...ADMIN, minSessionTimeoutMs: 1000 };
    const ensemble = await useServingEnsemble({ size: 3, operated: true, settings });
    const servers = ensemble.ports.map((port) => `127.0.0.1:${port}`).join(',');
    const ours = await connect(servers, { sessionTimeoutMs: 10_000 });
    onTestFinished(() => ours.close());
    const java = await compileJava('MixedDriver');
    onTestFinished(java.remove);
    const curator = useDriver(java, servers);
    const kazoo = useDriver({ file: PYTHON, args: ['-B', KAZOO] }, servers);
    const cli = new Conversation('stdbuf', ['-oL', CLI_MT, '-h', servers]);
    onTestFinished(() => cli.close());
    await cli.expect(/state = CONNECTED_STATE/);
    await ours.create('/kept', 'before');
    await ours.create('/count', '0');
    const before = [
      ours.session?.id,
      await answerOf(curator, 'session', '/'),
      await answerOf(kazoo, 'session'),
    ];

    const [follower] = await ensemble.followers();
    const backups = join(ensemble.directory, 'backups');
    const url = `http://127.0.0.1:${follower?.adminPort}`;
    await ours.sync('/');
    const save = [ROOKERY_MAIN, 'backup', 'save', backups, '--url', url];
    const { stdout } = await run(process.execPath, save, { env: ENVIRONMENT });
    const [, backup = ''] = /saved and verified: (\S+),/.exec(stdout) ?? [];
    // What all of them have seen is newer than the backup.
    await ours.create('/lost', 'after');
    for (let count = 0; count < 50; count++) await ours.setData('/kept', `${count}`);
    await answerOf(curator, 'count', '/lock', '/count', '3');
    await answerOf(kazoo, 'count', '/lock', '', '/count', '3');
    await cli.ask('get /lost', /after/);
    const newest = ours.lastZxidSeen;

    await Promise.all(ensemble.members.map((member) => member.kill()));
    for (const id of ensemble.ids) ensemble.wipe(id);
    const config = join(ensemble.directory, 'config-1.json');
    await run(process.execPath, [ROOKERY_MAIN, 'restore', backup, '--config', config]);
    ensemble.start();
    await ensemble.serving();
    await cli.expect(/expired|EXPIRED/);
    await ours.connected({ timeoutMs: DEADLINE_MS });
    const { data, stat } = await ours.getData('/kept');
    expect(data?.toString()).toBe('before');
    expect(await ours.exists('/lost')).toBe(null);
    expect((await ours.setData('/kept', 'new')).mzxid).toBeGreaterThan(newest);
    expect(stat.mzxid).toBeLessThan(newest);
    // The libraries' locks and counters go on from what was restored.
    await answerOf(curator, 'count', '/lock', '/count', '2');
    await answerOf(kazoo, 'count', '/lock', '', '/count', '2');
    expect((await ours.getData('/count')).data?.toString()).toBe('4');
    const after = [
      ours.session?.id,
      await answerOf(curator, 'session', '/'),
      await answerOf(kazoo, 'session'),
    ];
    for (const [index, session] of after.entries()) expect(session).not.toEqual(before[index]);
    const next = new Conversation('stdbuf', ['-oL', CLI_MT, '-h', servers]);
    onTestFinished(() => next.close());
    await next.expect(/state = CONNECTED_STATE/);
    await next.ask('get /kept', /new/);
    for (const { logFile } of ensemble.members) {
      expect(readFileSync(logFile, 'utf8')).not.toContain('client has seen zxid');
    }
  },
  TEST_DEADLINE_MS,
);
