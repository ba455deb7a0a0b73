/**
 * `check` against servers in this test that answer as members do: each finding, and silence where
 * all is well. Real members are in test/src/client/shell/check.test.ts, and a disk that is really
 * full in test/src/answers/operators/disk-space.test.ts.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { Call } from '../../command/command.js';
import { Output } from '../../command/output.js';
import { surroundingsOf } from '../../simulated/surroundings.js';
import { check } from './checking.js';

interface Scripted {
  readonly mode: string;
  /** The zxid that it tells, each time it is asked. */
  readonly zxid: () => string;
  readonly host?: string;
  /** What it says of its disk. */
  readonly disk?: string;
  readonly clockMs?: number;
  readonly syncMs?: number;
  readonly metrics?: string;
  readonly readiness?: readonly [status: number, text: string];
}

afterEach(() => {
  vi.restoreAllMocks();
});

const GOAL = '0x100000020';
const LEADER: Scripted = { mode: 'leader', zxid: () => GOAL };
const FOLLOWER: Scripted = { mode: 'follower', zxid: () => GOAL };

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

function answerTo(word: string, { mode, zxid, disk, syncMs = 1 }: Scripted): string {
  if (word === 'conf') return 'tickTime=2000\nserver.1=a\n';
  if (word === 'mntr') return `zk_avg_fsynctime\t${syncMs}\n`;
  if (word === 'hash') return '100000020: ca752c0c02bd08cd\n';
  if (mode === 'closing') return '';
  if (mode === 'stranger') return 'HTTP/1.1 400 Bad Request\r\n\r\n';
  const more = disk === undefined ? '' : `Disk: ${disk}\n`;
  if (mode === 'waiting') {
    return `This ZooKeeper instance is not currently serving requests\n${more}`;
  }
  return `Zookeeper version: 3.8.0\nZxid: ${zxid()}\nMode: ${mode}\n${more}`;
}

async function member(id: number, scripted: Scripted) {
  const { host = '127.0.0.1', clockMs = 0, readiness = [200, 'ok\n'], metrics = '' } = scripted;
  const client = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (word) => socket.end(answerTo(String(word), scripted)));
  });
  const http = createHttpServer((request, response) => {
    const [status, text] =
      request.url === '/livez'
        ? [200, 'ok\n']
        : request.url === '/metrics'
          ? [200, metrics]
          : readiness;
    response.writeHead(status, { date: new Date(Date.now() + clockMs).toUTCString() }).end(text);
  });
  const [clientPort, metricsPort] = [await listening(client), await listening(http)];
  return { id, host, clientPort, peerPort: 1000 + id, metricsPort };
}

async function checked(all: readonly Scripted[]) {
  const folder = mkdtempSync(join(tmpdir(), 'rookery-check-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const servers = await Promise.all(all.map((scripted, at) => member(at + 1, scripted)));
  const config = join(folder, 'ensemble.json');
  writeFileSync(config, JSON.stringify({ dataDir: 'data', servers, peerAuth: 'none' }));
  let text = '';
  const write = async (data: string | Uint8Array) => {
    text += String(data);
  };
  const output = new Output({ format: 'json', out: write, error: write, isTerminal: false });
  const around = surroundingsOf(output);
  const code = await check(new Call(around, [], { config }));
  const findings: { kind: string; what: string; remedy: string }[] = JSON.parse(text);
  return { code, findings };
}

it('says nothing when all members are well, keep up and agree', async () => {
  expect(await checked([LEADER, FOLLOWER, FOLLOWER])).toEqual({ code: 0, findings: [] });
});

it('asks for all servers where only followers were named', async () => {
  const { code, findings } = await checked([FOLLOWER, FOLLOWER]);
  expect([code, findings.map(({ kind }) => kind)]).toEqual([3, ['leader-unknown']]);
  expect(findings[0]?.what).toContain('member 1 follows a leader that is not among');
  expect(findings[0]?.remedy).toContain('Name all servers');
});

it('names the member that does not keep up, after it has had time to', async () => {
  let nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  let asked = 0;
  const zxid = () => {
    asked += 1;
    nowMs += 1000;
    return '0x10000001f';
  };
  const { code, findings } = await checked([LEADER, FOLLOWER, { mode: 'follower', zxid }]);
  expect([code, findings.map(({ kind }) => kind)]).toEqual([3, ['lag']]);
  expect(findings[0]?.what).toContain(`member 3 is at zxid 0x10000001f`);
  expect(findings[0]?.what).toContain(GOAL);
  expect(asked).toBeGreaterThan(2);
});

it('does not blame a member that catches up while it is looked at', async () => {
  let asked = 0;
  const zxid = () => (++asked < 3 ? '0x10000001f' : GOAL);
  expect(await checked([LEADER, { mode: 'follower', zxid }])).toEqual({ code: 0, findings: [] });
  expect(asked).toBe(3);
});

it('tells of a member that serves reads alone, and does not compare it', async () => {
  const readOnly = { mode: 'read-only', zxid: () => '0x100000001' };
  const { code, findings } = await checked([LEADER, FOLLOWER, readOnly]);
  expect([code, findings.map(({ kind }) => kind)]).toEqual([3, ['read-only']]);
  expect(findings[0]?.what).toContain('member 3 serves only reads');
});

it('tells of full disks, of members that serve and of those that have stepped out', async () => {
  const disk = 'full, 57 MB free, the reserve is 78 MB';
  const out = {
    ...FOLLOWER,
    mode: 'waiting',
    disk: `${disk}; leader 1 goes on without this member`,
  };
  const { code, findings } = await checked([{ ...LEADER, disk }, FOLLOWER, out]);
  expect(code).toBe(3);
  expect(findings).toEqual([
    {
      kind: 'no-service',
      what: `member 3 does not serve: it serves no clients, its disk is ${out.disk}.`,
      remedy: 'Give its disk room: it comes back by itself.',
    },
    {
      kind: 'full-disk',
      what: `The disk of member 1 is ${disk}.`,
      remedy: 'Give its disk room.',
    },
  ]);
});

it('tells once of a member that waits and is therefore not ready', async () => {
  const readiness = [503, '[-]leader failed: it has neither led nor followed for 9 s\n'] as const;
  const { findings } = await checked([
    LEADER,
    FOLLOWER,
    { ...FOLLOWER, mode: 'waiting', readiness },
  ]);
  expect(findings.map(({ what }) => what)).toEqual([
    'member 3 does not serve: it has no quorum and serves no clients.',
  ]);
});

it('does not say to start a member that runs and waits', async () => {
  const { findings } = await checked([LEADER, FOLLOWER, { ...FOLLOWER, mode: 'waiting' }]);
  expect(findings).toMatchObject([
    {
      kind: 'no-service',
      what: 'member 3 does not serve: it has no quorum and serves no clients.',
    },
  ]);
  expect(findings[0]?.remedy).toBe('It runs: the end of its log says what it waits for.');
});

it('says that something else listens where no server has answered', async () => {
  const { findings } = await checked([LEADER, FOLLOWER, { ...FOLLOWER, mode: 'stranger' }]);
  expect(findings).toMatchObject([{ kind: 'no-service' }]);
  expect(findings[0]?.what).toContain('member 3 does not serve: it answered "HTTP/1.1 400');
  expect(findings[0]?.remedy).toMatch(/^Something else listens on that port: /);
});

it('does not know who closes a connection without an answer', async () => {
  const { findings } = await checked([LEADER, FOLLOWER, { ...FOLLOWER, mode: 'closing' }]);
  expect(findings).toMatchObject([{ kind: 'no-service' }]);
  expect(findings[0]?.remedy).toContain('If it does not run, something else listens');
});

it('does not say to start a member whose name does not resolve', async () => {
  const { findings } = await checked([LEADER, { ...FOLLOWER, host: 'nobody.invalid' }, FOLLOWER]);
  const [unknown] = findings.filter(({ kind }) => kind === 'no-service');
  expect(unknown?.what).toMatch(/^member 2 does not serve: getaddrinfo /);
  expect(unknown?.remedy).toContain('does not resolve on this machine');
});

it('names the member whose clock is apart', async () => {
  const { code, findings } = await checked([LEADER, { ...FOLLOWER, clockMs: -60_000 }]);
  expect([code, findings.map(({ kind }) => kind)]).toEqual([3, ['clock']]);
  expect(findings[0]?.what).toMatch(/clocks of member 2 and of this machine are (59|60)\.\d s/);
});

it('names this machine where its clock is the one that is apart', async () => {
  const late = { clockMs: -60_000 };
  const here = await checked([{ ...LEADER, ...late }, { ...FOLLOWER, ...late }, FOLLOWER]);
  expect(here.findings.map(({ what, remedy }) => [what, remedy])).toEqual([
    [
      expect.stringMatching(/^the clocks of this machine and of its members are (59|60)\.\d s/),
      'Look at chrony or ntpd on this machine.',
    ],
    [
      expect.stringMatching(/^the clocks of member 3 and of most members are (59|60)\.\d s/),
      'Look at chrony or ntpd there.',
    ],
  ]);
});

it('names the member whose disk is full, and what to do', async () => {
  const full = '[+]quorum ok\n[-]disk failed: 1 MB is free\nreadyz check failed\n';
  const { code, findings } = await checked([{ ...LEADER, readiness: [503, full] }, FOLLOWER]);
  expect([code, findings.map(({ kind }) => kind)]).toEqual([3, ['not-ready']]);
  expect(findings[0]?.what).toBe('member 1 is not ready: [-]disk failed: 1 MB is free.');
  expect(findings[0]?.remedy).toContain('a full disk needs room');
});

it('tells of a slow disk, of certificates and of settings that differ, from the ports of members', async () => {
  const soon = Math.floor(Date.now() / 1000) + 5 * 86_400;
  const metrics = (cnxns: number) =>
    `rookery_setting_info{setting="maxClientCnxns",value="${cnxns}"} 1\n`;
  const { code, findings } = await checked([
    { ...LEADER, syncMs: 4000, metrics: `${metrics(60)}fsynctime{quantile="0.5"} 4000\n` },
    { ...FOLLOWER, metrics: `${metrics(0)}rookery_tls_certificate_expiry_seconds ${soon}\n` },
    { ...FOLLOWER, metrics: metrics(60) },
  ]);
  expect(code).toBe(3);
  expect(findings.map(({ kind }) => kind).sort()).toEqual([
    'certificate',
    'configuration',
    'slow-disk',
  ]);
});

it('a certificate that lasts for some weeks is told, and nothing is wrong', async () => {
  const later = Math.floor(Date.now() / 1000) + 20 * 86_400;
  const metrics = `rookery_tls_certificate_expiry_seconds ${later}\n`;
  const { code, findings } = await checked([{ ...LEADER, metrics }, FOLLOWER, FOLLOWER]);
  expect(code).toBe(0);
  expect(findings).toMatchObject([{ kind: 'certificate', isWarning: true }]);
});
