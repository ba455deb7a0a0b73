/**
 * Goal: the programs of client/examples do what their first comments tell. Method: each runs as the
 * processes that it is written for, against three members; what they print is awaited and compared.
 */
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { type Client, connect } from '@rookery/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { deferred } from '../../harness/wait.js';
import { EXAMPLES, Example } from '../example.js';
import { sharedEnsemble } from '../shared-ensemble.js';

const ensemble = sharedEnsemble();

const CLEAN = { code: 0, errors: '' };
/** For those that refuse to start without. */
const ARGUMENTS = new Map<string, readonly string[]>();

function start(name: string, ...args: string[]): Example {
  const servers = ensemble().ports.map((port) => `127.0.0.1:${port}`);
  return new Example(name, [servers.join(','), ...args]);
}

describe('group-membership.js', () => {
  it('lists who joins and who leaves, by Ctrl-C and by kill -9', async () => {
    const ann = start('group-membership.js', 'ann');
    await ann.says(/^members: ann$/);
    const bob = start('group-membership.js', 'bob');
    const cleo = start('group-membership.js', 'cleo');
    for (const member of [ann, bob, cleo]) await member.says(/^members: ann bob cleo$/);
    expect(await bob.interrupt()).toEqual(CLEAN);
    for (const member of [ann, cleo]) await member.says(/^members: ann cleo$/);
    await cleo.kill();
    await ann.says(/^members: ann$/);
    expect(await ann.interrupt()).toEqual(CLEAN);
  });
});

describe('lock.js', () => {
  it('does one job at a time in three processes, also when one is killed in a job', async () => {
    const processes = [start('lock.js'), start('lock.js'), start('lock.js')];
    const [first, second, third] = processes;
    if (first === undefined || second === undefined || third === undefined) throw new Error();
    for (const one of processes) await one.says(/^job \d+: done$/);
    await first.says(/^job \d+: begun/);
    await first.kill();
    const killedIn = Math.max(...begunBy(first).map(({ job }) => job));
    // Whoever does it again has waited for the end of the dead one's session.
    for (const one of [second, third]) {
      await one.saysSo(
        `job ${killedIn} or a later one is done`,
        (line) => doneIn(line) >= killedIn,
      );
    }
    for (const one of [second, third]) expect(await one.interrupt()).toEqual(CLEAN);

    const lines = processes.flatMap((one) => one.lines);
    expect(lines.filter((line) => !/^job \d+: (?:done|begun, token \d+)$/.test(line))).toEqual([]);
    const done = lines.map(doneIn).filter((job) => job > 0);
    expect(new Set(done).size).toBe(done.length);
    // In the order of the tokens each job follows the last; only the killed one's comes twice.
    const begun = processes.flatMap(begunBy).sort((left, right) => left.token - right.token);
    expect(new Set(begun.map(({ token }) => token)).size).toBe(begun.length);
    const again = begun.filter(({ job }, index) => begun[index - 1]?.job === job);
    expect(again.filter(({ job }) => job !== killedIn)).toEqual([]);
    expect(again.length).toBeLessThanOrEqual(1);
    const jobs = begun.map(({ job }) => job).filter((job, index, all) => all[index - 1] !== job);
    expect(jobs).toEqual(jobs.map((_, index) => index + 1));
    expect(new Set([...done, killedIn])).toEqual(new Set(jobs));
  });
});

describe('crawler.js', () => {
  it('stores each page once, also those of a worker that is killed at its work', async () => {
    const urls = Array.from({ length: 8 }, (_, index) => `http://${index}.example/`);
    const workers = [start('crawler.js', 'work'), start('crawler.js', 'work')];
    const adder = start('crawler.js', 'add', ...urls);
    expect(await adder.ends()).toEqual(CLEAN);
    const [killed, other] = workers;
    if (killed === undefined || other === undefined) throw new Error();
    await killed.says(/^fetching /);
    await killed.kill();
    const unfinished = urlsOf(killed, 'fetching').filter((url) => {
      return !urlsOf(killed, 'stored').includes(url);
    });
    expect(unfinished.length).toBeLessThanOrEqual(1);
    const zk = await connect(
      ensemble()
        .ports.map((port) => `127.0.0.1:${port}`)
        .join(','),
    );
    onTestFinished(() => zk.close());
    await untilEmpty(zk, '/examples/crawl/entries');
    // Who waits for an entry with nobody else around: nothing is left, and nothing held.
    expect(await other.interrupt()).toEqual(CLEAN);
    expect((await zk.getChildren('/examples/crawl/taken')).children).toEqual([]);
    const stored = await pages(zk);
    expect([...stored].sort()).toEqual(urls);
    // The other one says so of all that the killed one had not stored.
    const byOther = urlsOf(other, 'stored');
    expect(new Set(byOther).size).toBe(byOther.length);
    const missing = urls.filter((url) => ![...byOther, ...unfinished].includes(url));
    expect(missing.filter((url) => !urlsOf(killed, 'stored').includes(url))).toEqual([]);
  });
});

describe('configuration.js', () => {
  it('tells every process of each change, and merges changes made at the same time', async () => {
    const followers = [start('configuration.js'), start('configuration.js')];
    for (const follower of followers) await follower.says(/^nothing there yet$/);
    const blue = start('configuration.js', 'set', '{"colour":"blue"}');
    expect(await blue.ends()).toEqual(CLEAN);
    expect(blue.lines).toEqual(['written: {"colour":"blue"}']);
    for (const follower of followers) await follower.says(/^value: \{"colour":"blue"\}$/);

    const changes = ['{"size":1}', '{"colour":"red"}'];
    const setters = changes.map((change) => start('configuration.js', 'set', change));
    for (const setter of setters) expect(await setter.ends()).toEqual(CLEAN);
    for (const follower of followers) {
      await follower.says(/^value: \{"colour":"red","size":1\}$/);
      expect(await follower.interrupt()).toEqual(CLEAN);
    }
  });
});

describe('rendezvous.js', () => {
  it('lets workers meet the master at the place of the scheduler, until that ends', async () => {
    const early = start('rendezvous.js', 'worker');
    const scheduler = start('rendezvous.js', 'scheduler');
    await scheduler.says(/^open$/);
    const master = start('rendezvous.js', 'master', '10.0.0.7:8080');
    expect(await master.ends()).toEqual(CLEAN);
    const late = start('rendezvous.js', 'worker');
    for (const worker of [early, late]) await worker.says(/^the master is at 10\.0\.0\.7:8080$/);
    await scheduler.kill();
    for (const worker of [early, late]) {
      await worker.says(/^over$/);
      expect(await worker.ends()).toEqual(CLEAN);
    }
  });
});

describe('leader-election.js', () => {
  it('gives one candidate at a time the lead, with greater tokens, and tells who asks', async () => {
    const ann = start('leader-election.js', 'ann');
    const [, first] = await ann.says(/^elected, token (\d+)$/);
    const asked = start('leader-election.js');
    await asked.says(/^the leader is ann at http:\/\/ann\.example\/$/);
    expect(await asked.ends()).toEqual(CLEAN);

    const bob = start('leader-election.js', 'bob');
    await bob.says(/^stands for election$/);
    await ann.kill();
    const [, second] = await bob.says(/^elected, token (\d+)$/);
    expect(BigInt(second ?? 0) > BigInt(first ?? 0)).toBe(true);
    await bob.says(/^leads$/);
    expect(await bob.interrupt()).toEqual(CLEAN);
    expect(bob.lines.at(-1)).toBe('leads no more');
  });
});

describe('two-phase-commit.js', () => {
  const NAMES = ['vienna', 'paris', 'rome'];
  const site = (name: string, vote: string) => start('two-phase-commit.js', 'site', name, vote);
  const coordinator = () => start('two-phase-commit.js', 'coordinator', ...NAMES);

  it('commits at every site when all vote so', async () => {
    const all = [...NAMES.map((name) => site(name, 'commit')), coordinator()];
    for (const one of all) expect(await one.ends()).toEqual(CLEAN);
    for (const one of all) expect(one.lines.at(-1)).toBe('decision: commit');
  });

  it('aborts at every site when the last one votes so', async () => {
    const willing = [site('vienna', 'commit'), site('paris', 'commit')];
    const asking = coordinator();
    for (const one of willing) await one.says(/^has voted commit$/);
    const all = [...willing, asking, site('rome', 'abort')];
    for (const one of all) expect(await one.ends()).toEqual(CLEAN);
    for (const one of all) expect(one.lines.at(-1)).toBe('decision: abort');
  });

  it('aborts when a site is killed before all have voted', async () => {
    const asking = coordinator();
    await asking.says(/^asks vienna paris rome$/);
    const vienna = start('two-phase-commit.js', 'site', 'vienna', 'commit');
    await vienna.says(/^prepares to raise all prices$/);
    await vienna.kill();
    await asking.says(/^decision: abort$/);
    expect(await asking.ends()).toEqual(CLEAN);
  });
});

describe('scheduled-job.js', () => {
  it('does each due time once, goes on in the next process, and tells its history', async () => {
    const ann = start('scheduled-job.js', 'ann');
    const first = await ann.says(/^doing (\d+) for the 1 time$/);
    const bob = start('scheduled-job.js', 'bob');
    await bob.says(/^a session has been opened/);
    expect(await ann.interrupt()).toMatchObject({ code: 0 });
    expect(ann.lines.join('\n')).toContain('rookery_client_operations_total{client="default"');
    const second = await bob.says(/^doing (\d+) for the 1 time$/);
    expect(Number(second[1])).toBeGreaterThan(Number(first[1]));
    expect(await bob.interrupt()).toMatchObject({ code: 0 });
    const asked = start('scheduled-job.js');
    await asked.says(/^\d+ done by bob$/);
    await asked.says(/^\d+ done by ann$/);
    expect(await asked.ends()).toMatchObject({ code: 0 });
  });
});

it('each example ends by Ctrl-C while no server answers', async () => {
  const silent = createServer();
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  onTestFinished(() => void silent.close());
  const { port } = silent.address() as AddressInfo;
  const names = readdirSync(EXAMPLES).filter((name) => /^(?!frame\.).*\.js$/.test(name));
  expect(names.length).toBeGreaterThanOrEqual(7);
  for (const name of names) {
    const example = new Example(name, [`127.0.0.1:${port}`, ...(ARGUMENTS.get(name) ?? [])]);
    await once(silent, 'connection');
    expect(await example.interrupt(), name).toEqual(CLEAN);
  }
});

/** What the lines that begin with the verb go on with. */
function urlsOf({ lines }: Example, verb: string): string[] {
  return lines.flatMap((line) =>
    line.startsWith(`${verb} `) ? [line.slice(verb.length + 1)] : [],
  );
}

async function untilEmpty(zk: Client, path: string): Promise<void> {
  for (;;) {
    const changed = deferred<void>();
    const { children } = await zk.getChildren(path, { watcher: () => changed.resolve() });
    if (children.length === 0) return;
    await changed.promise;
  }
}

/** The URLs of the pages that the crawler has stored, as often as it has. */
async function pages(zk: Client): Promise<string[]> {
  const directory = '/examples/pages';
  const { children } = await zk.getChildren(directory);
  const nodes = await Promise.all(children.map((name) => zk.getData(`${directory}/${name}`)));
  return nodes.map(({ data }) => JSON.parse(String(data)).url);
}

function begunBy({ lines }: Example): { readonly job: number; readonly token: number }[] {
  return lines
    .map((line) => /^job (\d+): begun, token (\d+)$/.exec(line))
    .filter((match) => match !== null)
    .map(([, job, token]) => ({ job: Number(job), token: Number(token) }));
}

/** The job that is done according to the line, 0 when it says something else. */
function doneIn(line: string): number {
  return Number(/^job (\d+): done$/.exec(line)?.[1] ?? 0);
}
