/**
 * Mistakes of the operator lead to a clear message that names all of them, exit code 2, and nothing
 * written.
 *
 * One mistake only the other members can notice: the data directory of another ensemble.
 */
import { spawn } from 'node:child_process';
import { closeSync, cpSync, existsSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { fingerprint } from '../../harness/disk.js';
import { type Ensemble, newTestDirectory, useServingEnsemble } from '../../harness/ensemble.js';
import { create } from '../../harness/operations.js';
import { freePorts } from '../../harness/ports.js';
import { ROOKERY_MAIN } from '../../harness/product.js';
import { type Ended, runServerToEnd } from '../../harness/run-to-end.js';
import { useClient } from '../../harness/use-client.js';
import { never, until } from '../../harness/wait.js';

const MISTAKE = 2;
const REFUSED_DEADLINE_MS = 20_000;
/** Long enough for many rounds of dialling with back-off. */
const WATCHED_MS = 4_000;

it.each(['clientPort', 'peerPort'] as const)(
  'a %s that is in use is named, and nothing is written',
  async (key) => {
    const { directory, config } = await useStandalone();
    const [own] = config.servers;
    await useListener(own[key]);
    const others = [2, 3].map((id) => {
      const shift = 100 * id;
      return { ...own, id, clientPort: own.clientPort + shift, peerPort: own.peerPort + shift };
    });
    const file = writeConfig(directory, { ...config, servers: [own, ...others] });
    const { code, said } = await runServerToEnd(file, 1);
    expect(code, said).toBe(MISTAKE);
    expect(said).toContain(String(own[key]));
    expect(said).toMatch(/in use/i);
    expect(fingerprint(join(directory, 'data'))).toEqual([]);
  },
);

it.runIf(process.platform === 'linux').each(['config check FILE', 'completion bash'])(
  '%s ends without a word if its reader has gone, and says why if the disk of its output is full',
  async (line) => {
    const { directory, config } = await useStandalone();
    const file = writeConfig(directory, config);
    const args = line.split(' ').map((word) => (word === 'FILE' ? file : word));
    expect(await runPrinting(args, 'pipe')).toEqual({ code: 141, said: '' });
    const full = openSync('/dev/full', 'w');
    onTestFinished(() => closeSync(full));
    const { code, said } = await runPrinting(args, full);
    expect([code, said]).toEqual([
      1,
      expect.stringMatching(/^rookery: standard output cannot be written: ENOSPC[^\n]*\n$/),
    ]);
  },
);

it('a data directory that cannot be written is named', async () => {
  const { directory, config } = await useStandalone();
  // Tests may run as root, who ignores permissions, so a file is put where the directory should be.
  const dataDir = join(directory, 'in-the-way');
  writeFileSync(dataDir, 'not a directory');
  const before = fingerprint(directory);
  const file = writeConfig(directory, { ...config, dataDir });
  const { code, said } = await runServerToEnd(file, 1);
  expect(code, said).toBe(MISTAKE);
  expect(said).toContain(dataDir);
  rmSync(file);
  expect(fingerprint(directory)).toEqual(before);
});

it('ensemble names once what keeps all of its members from their data', async () => {
  const { directory, config } = await useStandalone();
  const [own] = config.servers;
  const servers = [0, 1, 2].map((shift) => {
    const [clientPort, peerPort] = [own.clientPort + 100 * shift, own.peerPort + 100 * shift];
    return { ...own, id: 1 + shift, clientPort, peerPort };
  });
  const dataDir = join(directory, 'in-the-way');
  writeFileSync(dataDir, 'not a directory');
  const file = writeConfig(directory, { ...config, dataDir, servers, peerAuth: 'none' });
  expect(await runPrinting(['ensemble', '--config', file], 'ignore')).toEqual({
    code: MISTAKE,
    said: `rookery: ${dataDir}, for data of members, cannot be written (ENOTDIR)\n`,
  });
});

it.each([
  [
    'a port for members that other machines reach, without peerAuth',
    { host: '0.0.0.0' },
    null,
    /"none"/,
  ],
  [
    'a secret that is not there',
    {},
    undefined,
    /peer\.secret cannot be read: there is no such file/,
  ],
  ['a secret that others can read', {}, 0o644, /peer\.secret is open to other users.*chmod 600/],
  ['a secret that is too short', {}, 0o600, /peer\.secret has a line of 5 characters/],
])('%s is named in one sentence and nothing written', async (_what, changes, mode, message) => {
  const { directory, config } = await useStandalone();
  const [own] = config.servers;
  const other = { ...own, id: 2, clientPort: own.clientPort + 100, peerPort: own.peerPort + 100 };
  const bound = 'host' in changes ? { peerListen: changes.host } : {};
  const peerAuth = mode === null ? {} : { peerAuth: { secretFile: 'peer.secret' } };
  if (typeof mode === 'number') writeFileSync(join(directory, 'peer.secret'), 'short', { mode });
  const servers = [{ ...own, ...bound }, other];
  const { code, said } = await runServerToEnd(
    writeConfig(directory, { ...config, ...peerAuth, servers }),
    1,
  );
  expect(code, said).toBe(MISTAKE);
  expect(said).toMatch(message);
  expect(said.trim().split('\n').length).toBeLessThanOrEqual(2);
  expect(said).not.toContain('short');
  expect(fingerprint(join(directory, 'data'))).toEqual([]);
});

it("another member's data directory is refused and left unchanged", async () => {
  const ensemble = await useServingEnsemble();
  const [first, second] = ensemble.members;
  if (first === undefined || second === undefined) throw new Error('two members are needed');
  await create(await useClient(first), '/kept');
  await Promise.all(ensemble.members.map((member) => member.stop()));
  ensemble.wipe(second.id);
  cpSync(first.dataDir, second.dataDir, { recursive: true });
  const before = fingerprint(second.dataDir);

  const config = join(ensemble.directory, `config-${second.id}.json`);
  const { code, said } = await runServerToEnd(config, second.id);
  expect(code, said).toBe(MISTAKE);
  expect(said).toContain(second.dataDir);
  expect(said).toMatch(/member 1\b/);
  expect(fingerprint(second.dataDir)).toEqual(before);
});

it('a data directory that another process uses is refused', async () => {
  const ensemble = await useServingEnsemble({ size: 1 });
  const [member] = ensemble.members;
  if (member === undefined) throw new Error('one member is needed');
  const [clientPort, peerPort] = await freePorts(2);
  const config = {
    dataDir: join(ensemble.directory, 'data'),
    servers: [{ id: 1, host: '127.0.0.1', clientPort, peerPort }],
  };
  const file = join(ensemble.directory, 'second.json');
  writeFileSync(file, JSON.stringify(config));
  const { code, said } = await runServerToEnd(file, 1);
  expect(code, said).toBe(MISTAKE);
  expect(said).toContain(member.dataDir);
  expect((await member.status())?.mode).toBe('standalone');
});

it('a config with five mistakes names all five and touches nothing', async () => {
  const { directory, config } = await useStandalone();
  const [own] = config.servers;
  const broken = {
    ...config,
    tickTimeMs: 'fast',
    tickTime: 2_000,
    minSessionTimeoutMs: 9_000,
    maxSessionTimeoutMs: 4_000,
    servers: [own, { ...own, clientPort: own.clientPort + 100 }],
  };
  const { code, said } = await runServerToEnd(writeConfig(directory, broken), 1);
  expect(code, said).toBe(MISTAKE);
  expect(said, 'a wrong type').toMatch(/tickTimeMs/);
  expect(said, 'an unknown key').toMatch(/tickTime\b/);
  expect(said, 'limits that contradict each other').toMatch(/minSessionTimeoutMs/);
  expect(said, 'a duplicate id').toMatch(/\bid\b/);
  expect(said, 'a duplicate port').toContain(String(own.peerPort));
  expect(existsSync(join(directory, 'data'))).toBe(false);
});

it.each([
  ['a config that does not exist', undefined, /no-such-file|config\.json/],
  ['a config that is not JSON', '{ "dataDir": ', /config\.json/],
  ['an id that is not in the list', '', /\b1\b/],
])('%s ends with exit code 2', async (_what, text, message) => {
  const { directory, config } = await useStandalone();
  const file = join(directory, 'config.json');
  const others = config.servers.map((server) => ({ ...server, id: 7 }));
  if (text !== undefined) {
    writeFileSync(file, text === '' ? JSON.stringify({ ...config, servers: others }) : text);
  }
  const { code, said } = await runServerToEnd(file, 1);
  expect(code, said).toBe(MISTAKE);
  expect(said).toMatch(message);
});

it("members refuse a member with another ensemble's data, and it never votes", async () => {
  const ours = await useServingEnsemble();
  const theirs = await useServingEnsemble();
  await create(await useClient(theirs.member(3)), '/theirs');
  await Promise.all(theirs.members.map((member) => member.stop()));
  const stranger = ours.member(3);
  await stranger.stop();
  ours.wipe(3);
  cpSync(theirs.member(3).dataDir, stranger.dataDir, { recursive: true });
  const marks = ours.members.map((member) => member.logMark());

  ours.start([3]);
  const refusals = () =>
    ours.members.map((member, i) => refusalLines(member.linesSince(marks[i] ?? 0)));
  await until('both sides log a refusal', REFUSED_DEADLINE_MS, () => {
    const [first, second, third] = refusals();
    return (first?.length && second?.length && third?.length) || undefined;
  });
  await never('a vote of the stranger', WATCHED_MS, () => voteOf(ours));
  const [first, second, third] = refusals();
  expect(first, 'one line, however often it dials').toHaveLength(1);
  expect(second, 'one line, however often it dials').toHaveLength(1);
  expect(third, 'one line for each peer').toHaveLength(2);
  await create(await useClient(ours.member(1)), '/ours-goes-on');
});

async function voteOf(ours: Ensemble): Promise<string | undefined> {
  const status = await ours.member(3).status();
  if (status !== undefined) return `it serves as ${status.mode}`;
  if (!ours.member(3).running) return 'it ended';
  return undefined;
}

function refusalLines(lines: readonly string[]): string[] {
  return lines.filter((line) => /ensemble/i.test(line) && /refus/i.test(line));
}

interface StandaloneConfig {
  readonly dataDir: string;
  readonly servers: readonly [
    { readonly id: number; readonly host: string; clientPort: number; peerPort: number },
  ];
}

async function useStandalone(): Promise<{ directory: string; config: StandaloneConfig }> {
  const directory = newTestDirectory();
  mkdirSync(directory, { recursive: true });
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const [clientPort, peerPort] = await freePorts(2);
  if (clientPort === undefined || peerPort === undefined) throw new Error('too few ports');
  const servers = [{ id: 1, host: '127.0.0.1', clientPort, peerPort }] as const;
  return { directory, config: { dataDir: './data', servers } };
}

function writeConfig(directory: string, config: object): string {
  const file = join(directory, 'config.json');
  writeFileSync(file, JSON.stringify(config));
  return file;
}

function useListener(port: number): Promise<void> {
  const server = createServer();
  onTestFinished(() => {
    server.close();
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host: '127.0.0.1' }, resolve);
  });
}

/** Runs a command whose standard output is a file, a pipe of which nobody reads, or nothing. */
function runPrinting(args: readonly string[], output: number | 'pipe' | 'ignore'): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [ROOKERY_MAIN, ...args], {
      stdio: ['ignore', output, 'pipe'],
    });
    child.stdout?.destroy();
    let said = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, said }));
  });
}
