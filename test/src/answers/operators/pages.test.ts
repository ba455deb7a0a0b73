/**
 * Goal: what the operator's guide shows can be typed. Method: each command of its pages is run, as
 * it stands there except for addresses and paths, against ensembles of Rookery and of ZooKeeper in
 * the state that the page speaks of, and ends with exit code 0.
 *
 * The page about the shell has a test of its own (test/src/client/shell/shell-page.test.ts).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, Lock } from '@rookery/client';
import { expect, it, onTestFinished } from 'vitest';
import { blocksOf, codeSpansOf } from '../../documents/pages.js';
import { type Ensemble, useServingEnsemble } from '../../harness/ensemble.js';
import { mayLack } from '../../harness/foreign.js';
import { create, getData } from '../../harness/operations.js';
import { productNamed, REPOSITORY, ROOKERY_MAIN } from '../../harness/product.js';
import { useClient } from '../../harness/use-client.js';

const TEST_DEADLINE_MS = 240_000;
const COMMAND_DEADLINE_MS = 60_000;
const ZOOKEEPER = '/usr/share/java/zookeeper.jar';
const PAGES = ['README', 'addresses', 'monitoring', 'api', 'backup', 'moving'];
const USER = 'ops:password';
/** Curl's exit code for a stream that goes on after `max-time`. */
const STILL_STREAMING = 28;

/** These run until they are stopped: supervision.test.ts runs them. */
const RUN_ELSEWHERE = / (?:server --config|ensemble --size) /;

/** What the reader of a page has in place of what stands there. */
type Place = readonly [text: string | RegExp, here: string];

/** All commands of a page with arguments, in their order. */
function commandsOf(page: string): string[] {
  const text = readFileSync(join(REPOSITORY, 'docs/operations', `${page}.md`), 'utf8');
  const lines = blocksOf(text)
    .filter(({ language }) => language === 'sh')
    .flatMap(({ code }) => code.split('\n'));
  const spans = codeSpansOf(text).filter((span) => /^rookery \w+ .*(?:\/|\.json)/.test(span));
  return [...lines, ...spans]
    .map((line) => line.replace(/\s+# .*$/, '').trim())
    .filter((line) => line !== '' && !RUN_ELSEWHERE.test(line));
}

class Reader {
  readonly #left = new Set(PAGES.flatMap(commandsOf));
  readonly #directory: string;
  readonly #places: Place[] = [];

  constructor(directory: string) {
    this.#directory = directory;
  }

  get left(): readonly string[] {
    return [...this.#left];
  }

  /** From now on, the text stands for something here. */
  knows(...places: readonly Place[]): void {
    this.#places.unshift(...places);
  }

  /** Types the commands that match and were not typed yet; returns what they printed. */
  async types(which: RegExp): Promise<string> {
    const lines = this.left.filter((line) => which.test(line));
    expect(lines, `commands that match ${which}`).not.toEqual([]);
    let printed = '';
    for (const line of lines) {
      this.#left.delete(line);
      printed += await this.#run(line);
    }
    return printed;
  }

  async #run(line: string): Promise<string> {
    const own = line
      .replace('node cli/dist/main.js', 'rookery')
      .replace(/^((?:[A-Z_]+=\S+ )*)rookery /, `$1'${process.execPath}' '${ROOKERY_MAIN}' `);
    const command = this.#places.reduce((text, [from, to]) => text.replaceAll(from, to), own);
    const child = spawn('/bin/sh', ['-c', `exec env ${command}`], {
      cwd: this.#directory,
      stdio: 'pipe',
      timeout: COMMAND_DEADLINE_MS,
      // Curl logs in, and ends streams that have no end.
      env: { ...process.env, CURL_HOME: this.#directory },
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const { code, text } = await ended(child);
    const isStream = line.startsWith('curl -N') && code === STILL_STREAMING;
    expect([line, isStream ? 0 : code, text]).toEqual([line, 0, text]);
    return text;
  }
}

/** A mirror that follows is told to end. */
async function ended(child: ChildProcess): Promise<{ code: number | null; text: string }> {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (part: string) => {
      if (part.includes('following the source')) child.kill('SIGTERM');
      text += part;
    });
  }
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, text };
}

/** A directory as ZooKeeper leaves it behind, with a snapshot and a log. */
async function stoppedZooKeeper(): Promise<{ dataDir: string; config: string }> {
  const ensemble = await useServingEnsemble({ size: 1, product: productNamed('apache') });
  const [member] = ensemble.members;
  if (member === undefined) throw new Error('there is a member');
  await create(await useClient(member), '/app', 'of ZooKeeper');
  await member.kill();
  return { dataDir: member.dataDir, config: join(ensemble.directory, `zoo-${member.id}.cfg`) };
}

function hostsOf(ensemble: Ensemble): string {
  return ensemble.ports.map((port) => `127.0.0.1:${port}`).join(',');
}

it.skipIf(mayLack(ZOOKEEPER))(
  'every command of the guide does what its page says',
  async () => {
    const digest = createHash('sha1').update(USER).digest('base64');
    const settings = { adminUsers: [`ops:${digest}`] };
    const [ensemble, target, zookeeper] = await Promise.all([
      useServingEnsemble({ size: 3, operated: true, settings }),
      useServingEnsemble({ size: 1 }),
      stoppedZooKeeper(),
    ]);
    const { directory } = ensemble;
    const here = (name: string) => join(directory, name);
    const [first] = await ensemble.followers();
    if (first === undefined) throw new Error('there is a follower');
    copyFileSync(here('config-1.json'), here('ensemble.json'));
    copyFileSync(zookeeper.config, here('zoo.cfg'));
    writeFileSync(here('app.json'), '{}');
    writeFileSync(here('.curlrc'), `user = "${USER}"\nfail\nsilent\nmax-time = 1\n`);
    const reader = new Reader(directory);
    reader.knows(
      [/zk1:2181(?:,zk\d:2181)*/g, hostsOf(ensemble)],
      ['127.0.0.1:2181', hostsOf(target)],
      ['http://127.0.0.1:8080', `http://127.0.0.1:${first.adminPort}`],
      ['http://zk1.example:7000', `http://127.0.0.1:${first.metricsPort}`],
      ['/var/backups/rookery', here('backups')],
      ['/etc/rookery/', `${directory}/`],
    );

    // While the members run.
    expect(await reader.types(/ status /)).toMatch(/leader/);
    expect(await reader.types(/ config check /)).toContain('the member runs');
    await reader.types(/readyz|rookery health/);
    const client = await connect(hostsOf(ensemble));
    onTestFinished(() => client.close());
    await new Lock(client, '/locks/report').acquire();
    expect(await reader.types(/^curl/)).toContain('"kind":"lock"');
    await client.setData('/app', 'kept');
    const saved = await reader.types(/backup save .*--url/);
    const [snapshot = ''] = /snapshot\.[\da-f]+\.gz/.exec(saved) ?? [];
    reader.knows(['snapshot.1f.gz', snapshot]);
    expect(await reader.types(/mirror .*--plan/)).toContain('would create');
    await reader.types(/ mirror /);
    expect((await getData(await useClient(target.member(1)), '/app')).data).toBe('kept');
    await client.close();

    // While they are stopped.
    await Promise.all(ensemble.members.map((member) => member.stop()));
    await reader.types(/backup save .*--config/);
    expect(await reader.types(/backup (?:list|verify)/)).toContain('sound: ');
    expect(await reader.types(/inspect snapshot .*backups/)).toContain('digest');
    await reader.types(/inspect (?:checkpoint|log --config|du)/);
    reader.knows([/--into \S+/g, `--into ${here('exported')}`]);
    await reader.types(/export zookeeper/);
    reader.knows([/(diff \S+ )\S+/g, `$1${here('exported')}`]);
    await reader.types(/inspect diff/);
    const version = join(zookeeper.dataDir, 'version-2');
    const named = (prefix: string) =>
      readdirSync(version).find((name) => name.startsWith(prefix)) ?? '';
    reader.knows(
      ['/var/lib/zookeeper/version-2/snapshot.0', join(version, named('snapshot.'))],
      ['/var/lib/zookeeper/version-2/log.1', join(version, named('log.'))],
      ['--data-dir /var/lib/zookeeper', `--data-dir ${zookeeper.dataDir}`],
      ['> ensemble.json', '> converted.json'],
    );
    expect(await reader.types(/inspect (?:snapshot|log) .*version-2/)).toContain('of ZooKeeper');
    await reader.types(/from-zoo-cfg/);
    expect(JSON.parse(readFileSync(here('converted.json'), 'utf8')).servers).toHaveLength(1);

    // After a majority is lost, and on empty disks.
    const config = JSON.parse(readFileSync(here('ensemble.json'), 'utf8'));
    writeFileSync(
      here('new-ensemble.json'),
      JSON.stringify({ ...config, dataDir: here('recovered') }),
    );
    reader.knows(['--from 2,5', '--from 2,3']);
    expect(await reader.types(/ recover /)).toContain('written');
    rmSync(config.dataDir, { recursive: true });
    expect(await reader.types(/import zookeeper/)).toContain('compared');
    expect(await reader.types(/ restore /)).toContain('written');
    await reader.types(/backup prune/);
    ensemble.start();
    await ensemble.serving();
    expect((await getData(await useClient(ensemble.member(2)), '/app')).data).toBe('kept');
    expect(reader.left, 'commands that were not run').toEqual([]);
  },
  TEST_DEADLINE_MS,
);
