/**
 * Every command of zkCli.sh that needs no reconfiguration, against Rookery and against ZooKeeper.
 *
 * The same script runs against both in one test run, and the two transcripts must be equal, so the
 * test contains no expectations. Zxids, times, session ids and ports are masked.
 */
import { execFile } from 'node:child_process';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Exchange, type Step, transcript } from '../../foreign/zk-cli.js';
import { Ensemble } from '../../harness/ensemble.js';
import { mayLack, ZK_CLI } from '../../harness/foreign.js';
import { type Product, productNamed, productUnderTest } from '../../harness/product.js';

const TEST_DEADLINE_MS = 400_000;
const ONE_SHOT_DEADLINE_MS = 90_000;
const PASSWORD_DIGEST = 'ann:7RJfAeIvrl4zdj6sS2fXrQHDvHM=';

describe.skipIf(mayLack(ZK_CLI))('zkCli.sh', () => {
  it(
    'prints the same answers as with ZooKeeper to every command of a long session',
    async () => {
      const expected = await served(productNamed('apache'), (server) => {
        return transcript(server, script(server));
      });
      const actual = await served(productUnderTest(), (server) =>
        transcript(server, script(server)),
      );
      console.log(`${expected.length} commands, ${expected.flat().length} lines compared`);
      const steps = script('');
      expect(actual).toEqual(expected.map((exchange, index) => asHere(exchange, steps[index])));
    },
    TEST_DEADLINE_MS,
  );

  it(
    'runs one-shot commands with the same output and exit code as with ZooKeeper',
    async () => {
      const commands = [['ls', '/'], ['get', '/nowhere'], ['create', '/once', 'x'], ['nonsense']];
      const runAll = async (server: string) => {
        const outcomes: unknown[] = [];
        for (const command of commands) outcomes.push(await oneShot(server, command));
        return outcomes;
      };
      const expected = await served(productNamed('apache'), runAll);
      const actual = await served(productUnderTest(), runAll);
      expect(actual).toEqual(expected);
    },
    TEST_DEADLINE_MS,
  );
});

function script(server: string): Step[] {
  const commands = (...list: string[]) => list.map((command): Step => ({ command }));
  return [
    ...commands(
      'create /a one',
      'create /a again',
      'create /nowhere/b x',
      'create relative x',
      'create /empty',
      'get /a',
      'get -s /a',
      'get /empty',
      'get /nowhere',
      'stat /a',
      'stat /nowhere',
      'set /a two',
      'set -s /a three',
      'set -v 7 /a four',
      'set -v 2 /a four',
      'set /nowhere x',
      'create "/with space" "quoted data"',
      "get '/with space'",
      'create -s /a/seq- first',
      'create -s /a/seq- second',
      'create -e /a/mine gone-with-me',
      'create -e -s /a/mine- also',
      'create /a/mine/child x',
      'stat /a/mine',
      'create -c /container',
      'create -c /container/child x',
      'stat /container',
      'create -t 100000 /ttl x',
      'create -s -t 100000 /ttl- x',
      'create -t 0 /ttl-0 x',
      'stat /ttl',
      'ls /',
      'ls -s /a',
      'ls -R /a',
      'ls /nowhere',
      'getAllChildrenNumber /a',
      'getAllChildrenNumber /',
      'getAllChildrenNumber /nowhere',
      'getEphemerals /a/mine-',
      'getEphemerals /nowhere',
      'sync /a',
      'sync /nowhere',
      'delete /a',
      'delete -v 9 /a/seq-0000000000',
      'delete -v 0 /a/seq-0000000000',
      'delete /nowhere',
      'delete /zookeeper',
    ),
    ...commands('whoami', 'getAcl /a', 'getAcl -s /a', 'getAcl /zookeeper/config'),
    ...commands(
      `create /acl x digest:${PASSWORD_DIGEST}:cdrwa`,
      'get /acl',
      'set /acl y',
      'getAcl /acl',
      'setAcl /acl world:anyone:r',
      'create /acl/child x',
    ),
    { command: 'stat /acl', divergence: ['Insufficient permission : /acl'] },
    ...commands(
      'create /auth x auth::cdrwa',
      'create /bad x world:nobody:cdrwa',
      'create /bad x nonsense:x:cdrwa',
      'create /bad x world:anyone:q',
      'addauth digest ann:wrong',
      'get /acl',
      'addauth digest ann:secret',
      'whoami',
      'create /auth x auth::cdrwa',
      'getAcl /auth',
      'setAcl -s /auth world:anyone:r,auth::cdrwa',
      'setAcl -v 9 /auth world:anyone:r',
      'getAcl -s /auth',
      'create /tree x',
      'create /tree/b x',
      'create /tree/b/c x',
      'setAcl -R /tree world:anyone:cdrw',
      'getAcl /tree/b/c',
      'setAcl /tree world:anyone:cdrwa',
      'create /addresses x ip:127.0.0.0/8:r,ip:10.0.0.1:cdrwa',
      'get /addresses',
      'set /addresses y',
      'delete /addresses',
      'create /addresses-bad x ip:300.0.0.1:r',
    ),
    ...quotas(),
    ...watches(),
    ...commands(
      'config',
      'config -c',
      'version',
      'help',
      'nonsense',
      'history',
      'redo 0',
      'redo 9999',
    ),
    { command: 'close', events: 1 },
    { command: 'ls /' },
    { command: `connect ${server}`, events: 1 },
    { command: 'ls /' },
    { command: 'deleteall /a' },
    { command: 'deleteall -b 1 /tree' },
    { command: 'deleteall /nowhere' },
    { command: 'ls -R /' },
  ];
}

/** What Rookery must answer where ZooKeeper gave this answer. */
function asHere([command, ...answer]: Exchange, step: Step | undefined): Exchange {
  const differs = productUnderTest().name === 'rookery' && step?.divergence !== undefined;
  return [command, ...(differs ? step.divergence : answer)];
}

function quotas(): Step[] {
  return [
    'create /quota x',
    'create /quota/below yy',
    'listquota /quota',
    'setquota -n 3 /quota',
    'listquota /quota',
    'setquota -b 100 /quota',
    'setquota -N 10 /quota',
    'setquota -B 1000 /quota',
    'listquota /quota',
    'create /quota/more zzz',
    'set /quota/more zzzzz',
    'listquota /quota',
    'create /quota/over x',
    'delete /quota/over',
    'listquota /quota',
    'get /zookeeper/quota/quota/zookeeper_limits',
    'get /zookeeper/quota/quota/zookeeper_stats',
    'ls -R /zookeeper',
    'setquota -n 3 /quota/below',
    'setquota -n 3 /zookeeper/quota/quota',
    'delquota -n /quota',
    'listquota /quota',
    'delquota /quota',
    'listquota /quota',
    'delquota /nowhere',
    'setquota -n 3 /nowhere',
    'ls -R /zookeeper',
  ].map((command) => ({ command }));
}

function watches(): Step[] {
  return [
    { command: 'create /watched x' },
    { command: 'get -w /watched' },
    { command: 'set /watched y', events: 1 },
    { command: 'set /watched z' },
    { command: 'stat -w /watched' },
    { command: 'ls -w /watched' },
    { command: 'create /watched/child x', events: 1 },
    { command: 'delete /watched/child' },
    { command: 'delete /watched', events: 1 },
    { command: 'stat -w /watched' },
    { command: 'create /watched x', events: 1 },
    // No events come meanwhile: the shell prints them in another thread, at a time that nothing
    // determines.
    { command: 'printwatches off' },
    { command: 'printwatches on' },
    { command: 'addWatch /recursive' },
    { command: 'create /recursive x', events: 1 },
    { command: 'create /recursive/b x', events: 1 },
    { command: 'create /recursive/b/c x', events: 1 },
    { command: 'set /recursive/b y', events: 1 },
    { command: 'delete /recursive/b/c', events: 1 },
    { command: 'removewatches /recursive', events: 1 },
    { command: 'set /recursive/b z' },
    { command: 'removewatches /recursive' },
    { command: 'addWatch -m PERSISTENT /persistent' },
    { command: 'create /persistent x', events: 1 },
    { command: 'create /persistent/b x', events: 1 },
    { command: 'set /persistent/b y' },
    { command: 'set /persistent y', events: 1 },
    { command: 'delete /persistent/b', events: 1 },
    { command: 'addWatch -m NONSENSE /persistent' },
    { command: 'removewatches /persistent -a', events: 1 },
    { command: 'delete /persistent' },
    { command: 'get -w /watched' },
    { command: 'removewatches /watched -d', events: 1 },
    { command: 'set /watched z' },
    { command: 'config -w' },
  ];
}

async function served<T>(product: Product, use: (server: string) => Promise<T>): Promise<T> {
  const ensemble = await Ensemble.create({ product });
  let failed = true;
  onTestFinished(() => ensemble.close());
  try {
    ensemble.start();
    await ensemble.serving();
    const answer = await use(`127.0.0.1:${ensemble.member(2).clientPort}`);
    failed = false;
    return answer;
  } finally {
    if (failed) console.log(ensemble.logTails());
    await Promise.all(ensemble.running.map((member) => member.kill()));
  }
}

/** Output and exit code of one command given on the command line. */
async function oneShot(server: string, command: readonly string[]): Promise<unknown> {
  return await new Promise((resolve) => {
    const args = ['-server', server, ...command];
    const child = execFile(ZK_CLI, args, { timeout: ONE_SHOT_DEADLINE_MS }, (_, out, err) => {
      const lines = `${out}\n${err}`.split('\n');
      const shown = lines.filter(
        (line) => line !== '' && !/^(SLF4J|Connecting|WATCH|Watched)/.test(line),
      );
      resolve({ command, code: child.exitCode, shown });
    });
  });
}
