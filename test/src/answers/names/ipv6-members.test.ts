/**
 * Members that are named by IPv6 literals: every text in which a member or a command names an
 * address next to a port has it in brackets, and foreign clients understand it.
 *
 * The members listen on 127.0.0.1, too, where the harness looks for them.
 */
import { execFile } from 'node:child_process';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { runCommand } from '../../foreign/command.js';
import { compileJava, mayLackCurator } from '../../foreign/curator.js';
import { Ensemble, SERVING_DEADLINE_MS } from '../../harness/ensemble.js';
import { mayLackKazoo, PYTHON } from '../../harness/foreign.js';
import { fourLetterWord } from '../../harness/four-letter.js';
import { httpGet } from '../../harness/http.js';
import {
  type Product,
  productNamed,
  productUnderTest,
  ROOKERY_MAIN,
} from '../../harness/product.js';

const TEST_DEADLINE_MS = 120_000;
const COMMAND_DEADLINE_MS = 60_000;
const LONG = '0:0:0:0:0:0:0:1';
/** An address of loopback next to a port, without brackets around the address. */
const BARE = /(?<![[0-9a-f:])(?:::1|0:0:0:0:0:0:0:1):\d{2}/g;
const WORDS = ['conf', 'cons', 'stat', 'srvr', 'dump', 'mntr', 'envi', 'wchs'];
const PATHS = ['connections', 'voting_view', 'zabstate', 'leader', 'configuration', 'stats'];
const KAZOO_SCRIPT = new URL('../../e2e/fixtures/kazoo_clients.py', import.meta.url).pathname;

const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
);
const lacksKazoo = await mayLackKazoo();
const run = promisify(execFile);

function product(): Product {
  const rookery = productNamed('rookery');
  return {
    ...rookery,
    prepare(layout) {
      const servers = layout.servers.map((server) => ({
        ...server,
        host: '::1',
        listen: ['127.0.0.1', '::1'],
      }));
      return rookery.prepare({ ...layout, servers });
    },
  };
}

describe.skipIf(!hasIpv6 || productUnderTest().name === 'apache')('members named ::1', () => {
  let ensemble: Ensemble;
  let servers: readonly string[];

  /** Runs a command to its end; returns both outputs. */
  async function rookery(...args: readonly string[]): Promise<string> {
    const command = [ROOKERY_MAIN, ...args];
    const ended = run(process.execPath, command, { timeout: COMMAND_DEADLINE_MS });
    const { stdout, stderr } = await ended.catch((error) => error);
    return `${stdout}${stderr}`;
  }

  beforeAll(async () => {
    const settings = { fourLetterWords: '*' };
    ensemble = await Ensemble.create({ operated: true, product: product(), settings });
    ensemble.start();
    await ensemble.serving();
    servers = ensemble.ports.map((port) => `[::1]:${port}`);
  }, 2 * SERVING_DEADLINE_MS);

  afterAll(async () => {
    await ensemble.close();
  });

  it.skipIf(mayLackCurator())(
    'Java reads the list of members as from ZooKeeper, and an address whose port is behind it',
    async () => {
      const program = await compileJava('EnsembleMembers');
      onTestFinished(program.remove);
      const [port = 0] = ensemble.ports;
      const { code, output } = await runCommand({
        file: program.file,
        args: [...program.args, `[::1]:${port}`, `::1:${port}`],
        deadlineMs: TEST_DEADLINE_MS,
      });
      expect(code, output).toBe(0);
      expect(output).not.toContain('unhandled');
      const lines = output.split('\n').filter((line) => line.startsWith('member '));
      const members = ensemble.members.map(
        ({ id, clientPort }) =>
          new RegExp(
            `^member ${id} \\[${LONG}\\]:\\d+:\\d+:participant;\\[${LONG}\\]:${clientPort}$`,
          ),
      );
      expect(lines).toHaveLength(2 * members.length);
      for (const [index, line] of lines.entries()) {
        expect(line).toMatch(members[index % members.length] ?? /never/);
      }
      const list = ensemble.ports.map((one) => `${LONG}:${one}`).join(',');
      expect(output).toContain(`curator ${list}\n`);
      // What Curator makes of it is a connect string for our client, too.
      expect(await rookery('ls', '/', '--connect', list)).toContain('zookeeper');
    },
    TEST_DEADLINE_MS,
  );

  it.skipIf(lacksKazoo)(
    'kazoo works through all three members',
    async () => {
      const { code, output } = await runCommand({
        file: PYTHON,
        args: [KAZOO_SCRIPT, ...servers],
        deadlineMs: TEST_DEADLINE_MS,
      });
      expect(output).toContain('everything as expected');
      expect(code).toBe(0);
    },
    TEST_DEADLINE_MS,
  );

  it(
    'names every address with brackets, in what members and commands say',
    async () => {
      const texts = new Map<string, string>();
      const [first, second, third] = ensemble.members;
      if (first === undefined || second === undefined || third === undefined) throw new Error();
      for (const word of WORDS) {
        texts.set(word, await fourLetterWord(first.clientPort, word, '::1'));
      }
      expect(texts.get('cons')).toMatch(new RegExp(`^ /\\[${LONG}\\]:\\d+\\[`, 'm'));
      expect(texts.get('stat')).toMatch(new RegExp(`^ /\\[${LONG}\\]:\\d+\\[`, 'm'));
      expect(texts.get('dump')).toMatch(new RegExp(`^\\tip: /\\[${LONG}\\]:\\d+ `, 'm'));
      const file = join(ensemble.directory, 'config-1.json');
      const connect = `::1:${first.clientPort},::1:${second.clientPort}`;
      // One member fewer, so that the others and the commands say that they do not reach it.
      await third.kill();
      await first.waitForLog(/peer\.unreachable|peer\.disconnected/, TEST_DEADLINE_MS);
      for (const name of PATHS) {
        texts.set(name, (await httpGet(first.adminPort, `/commands/${name}`)).text);
      }
      for (const path of [
        '/api/v1/members',
        '/api/v1/sessions',
        '/api/v1/hot',
        '/readyz?verbose',
      ]) {
        texts.set(path, (await httpGet(first.adminPort, path)).text);
      }
      texts.set('/metrics', (await httpGet(first.metricsPort, '/metrics')).text);
      const commands = [
        ['get', '/zookeeper/config', '--connect', connect],
        ['status', '--config', file],
        ['status', '--connect', servers.join(',')],
        ['check', '--config', file],
        ['config', 'check', file],
        ['ls', '/', '--connect', `::1:${third.clientPort}`, '--timeout', '2s'],
      ];
      for (const command of commands) texts.set(command.join(' '), await rookery(...command));
      for (const member of ensemble.members) texts.set(`log of ${member.id}`, member.log());
      const bare = [...texts].flatMap(([what, text]) =>
        [...text.matchAll(BARE)].map(
          ({ index }) => `${what}: ${text.slice(index - 60, index + 60)}`,
        ),
      );
      expect(bare).toEqual([]);
      expect(texts.get(`get /zookeeper/config --connect ${connect}`)).toContain(
        `;[${LONG}]:${first.clientPort}\n`,
      );
      expect(texts.get(`status --config ${file}`)).toContain(`[::1]:${third.clientPort}`);
    },
    TEST_DEADLINE_MS,
  );
});
