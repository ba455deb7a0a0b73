/**
 * Each word's reply against what a real ZooKeeper 3.8.0 answered (test/vectors): the same lines
 * with the same keys in the same order; numbers, addresses and versions are masked.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { MemberView } from '../member-view.js';
import { ConnectionStats, ServerStats } from '../server-stats.js';
import { memberView } from '../testing/fixtures.js';
import type { ConnectionView, WordContext } from './context.js';
import { readEnvironment } from './envi.js';
import { replyToWord } from './reply.js';
import { FourLetterWhitelist, readFirstBytes } from './words.js';

const recorded: Record<string, string> = JSON.parse(
  readFileSync(new URL('../../../../test/vectors/four-letter-words.json', import.meta.url), 'utf8'),
);

const QUORUM = {
  peerState: 'leading - broadcast',
  quorumSize: 3,
  initLimitTicks: 10,
  syncLimitTicks: 5,
  peerPort: 2881,
  participant: true,
  membership: 'server.1=h:1:1:participant;2181\nversion=0',
};

const LEADER = {
  learners: 2,
  syncedFollowers: 2,
  syncedObservers: 0,
  pendingSyncs: 0,
  uptimeMs: 10.5,
  proposalSizes: { last: 36, min: 32, max: 98 },
};

describe('a reply to a four-letter word', () => {
  it('is the one that ZooKeeper gives, but for numbers, for srvr, stat, cons and conf', () => {
    for (const word of ['srvr', 'stat', 'cons', 'conf', 'wchs', 'dirs', 'crst', 'srst', 'gtmk']) {
      expect(masked(ask(word)), word).toBe(masked(recorded[word] ?? ''));
    }
  });

  it('is exact where clients compare it: no newline behind ruok and isro', () => {
    expect(ask('ruok')).toBe('imok');
    expect(ask('isro')).toBe('rw');
    expect(ask('isro', { mode: 'read-only' })).toBe('ro');
  });

  it('gives the numbers of the member in srvr', () => {
    const stats = new ServerStats();
    stats.packetsReceived = 94;
    stats.packetsSent = 106;
    for (const ms of [0, 9, 0.5, 1.2]) stats.latency.record(ms);
    const text = ask('srvr', { lastZxid: 0x1_0000_0033 }, { stats, connections: [] });
    expect(text).toContain('\nLatency min/avg/max: 0/2.675/9\nReceived: 94\nSent: 106\n');
    expect(text).toContain('\nZxid: 0x100000033\nMode: standalone\nNode count: 23\n');
  });

  it('tells proposal sizes on a leader only, as the last line of srvr and stat', () => {
    const changes = { mode: 'leader', quorum: QUORUM, leader: LEADER } as const;
    expect(ask('srvr', changes).endsWith('\nProposal sizes last/min/max: 36/32/98\n')).toBe(true);
    expect(ask('srvr')).not.toContain('Proposal');
  });

  it('has, for mntr, known names only, integers bare and averages with decimals', () => {
    const known = new Set((recorded['mntr'] ?? '').split('\n').map((line) => line.split('\t')[0]));
    const lines = ask('mntr').split('\n');
    expect(lines.pop()).toBe('');
    for (const line of lines) {
      const [name = '', value = ''] = line.split('\t');
      expect(known).toContain(name);
      if (name === 'zk_avg_latency') expect(value).toMatch(/^\d+\.\d{1,4}$/);
      else if (!['zk_version', 'zk_server_state'].includes(name)) expect(value).toMatch(/^\d+$/);
    }
    expect(lines.slice(0, 2).map((line) => line.split('\t')[0])).toEqual([
      'zk_version',
      'zk_server_state',
    ]);
  });

  it('has, for mntr on a leader, its followers under the new and the old name', () => {
    const text = ask('mntr', { mode: 'leader', quorum: QUORUM, leader: LEADER });
    expect(text).toContain('zk_server_state\tleader\nzk_peer_state\tleading - broadcast\n');
    for (const line of ['learners\t2', 'synced_followers\t2', 'followers\t2', 'quorum_size\t3']) {
      expect(text).toContain(`\nzk_${line}\n`);
    }
  });

  it('lists the ensemble in conf of a quorum member', () => {
    const text = ask('conf', { quorum: QUORUM });
    expect(text).toContain('\ninitLimit=10\nsyncLimit=5\nelectionAlg=3\nelectionPort=2881\n');
    expect(text).toContain('\npeerType=0\nmembership: \nserver.1=h:1:1:participant;2181\n');
  });

  it('has the version in envi where kazoo looks for it', () => {
    const text = ask('envi', { environment: readEnvironment });
    expect(text).toMatch(/^Environment:\nzookeeper\.version=3\.8\.0-rookery[^\n]*\nhost\.name=/);
    expect(text).toMatch(/\nos\.memory\.max=\d+MB\n/);
  });

  it('pairs zxids and digests in hash', () => {
    const digests = [{ zxid: 0x1_0000_000a, digest: '00000000deadbeef' }];
    expect(ask('hash', { digests })).toBe('10000000a: 00000000deadbeef\n');
  });

  it('shows a negative session id as unsigned', () => {
    const stats = new ConnectionStats(new ServerStats(), 0);
    stats.sessionId = -2;
    const connection = { remoteAddress: '10.0.0.1', remotePort: 1, interestOps: 1, stats };
    expect(ask('cons', {}, { connections: [connection] })).toContain('sid=0xfffffffffffffffe,');
  });

  it('resets what crst and srst say they reset', () => {
    const stats = new ServerStats();
    const connections = clients(stats);
    ask('crst', {}, { stats, connections });
    expect(connections.map((connection) => connection.stats.received)).toEqual([0, 0]);
    expect(stats.packetsReceived).not.toBe(0);
    ask('srst', {}, { stats, connections });
    expect([stats.packetsReceived, stats.packetsSent, stats.latency.count]).toEqual([0, 0, 0]);
  });
});

describe('a four-letter word that is not answered', () => {
  it('says that the member does not serve, except for ruok, isro and envi', () => {
    const idle = 'This ZooKeeper instance is not currently serving requests\n';
    for (const word of ['srvr', 'stat', 'mntr', 'cons', 'conf', 'hash', 'wchs']) {
      expect(ask(word, { serving: false }), word).toBe(idle);
    }
    expect(ask('ruok', { serving: false })).toBe('imok');
    expect(ask('isro', { serving: false })).toBe('null');
    expect(ask('envi', { serving: false })).toMatch(/^Environment:/);
  });

  it('says so when it is not whitelisted', () => {
    const whitelist = new FourLetterWhitelist('srvr, ruok');
    const refused = 'stat is not executed because it is not in the whitelist.\n';
    expect(ask('stat', {}, {}, whitelist)).toBe(refused);
    expect(ask('ruok', {}, {}, whitelist)).toBe('imok');
  });

  it('is refused when ZooKeeper has it and Rookery does not', () => {
    expect(ask('dump')).toBe('dump is not executed because it is not in the whitelist.\n');
  });
});

describe('the first four bytes', () => {
  it('are a word only when they are the name of one', () => {
    expect(readFirstBytes(Buffer.from('stat')).kind).toBe('word');
    expect(readFirstBytes(Buffer.from('Stat')).kind).toBe('frames');
    expect(readFirstBytes(Buffer.from([0, 0, 0, 45])).kind).toBe('frames');
    expect(readFirstBytes(Buffer.from([0xff, 0xf4, 0xff, 0xfd])).kind).toBe('telnetClose');
  });
});

function ask(
  name: string,
  changes: Partial<MemberView> = {},
  context: Partial<WordContext> = {},
  whitelist = new FourLetterWhitelist('*'),
): string {
  const first = readFirstBytes(Buffer.from(name));
  if (first.kind !== 'word') throw new Error(`${name} is not a word`);
  const stats = context.stats ?? new ServerStats();
  const connections = context.connections ?? clients(stats);
  return replyToWord(first, whitelist, { view: memberView(changes), stats, connections });
}

/** The asking connection and one with a session, as in the recording. */
function clients(server: ServerStats): ConnectionView[] {
  const asker = new ConnectionStats(server, 0);
  asker.receivedPackets(1);
  const session = new ConnectionStats(server, 1_795_171_757_040);
  session.receivedPackets(2);
  session.sessionId = 0x100001f910e0003n;
  session.sessionTimeoutMs = 4000;
  session.sentPackets(1);
  session.replied({ operation: 'CREA', xid: 1, zxid: 0x33, latencyMs: 3, nowMs: 2_070_830 });
  return [
    { remoteAddress: '127.0.0.1', remotePort: 43048, interestOps: 0, stats: asker },
    { remoteAddress: '127.0.0.1', remotePort: 42964, interestOps: 1, stats: session },
  ];
}

/** Replaces what differs from run to run, so that only the shape is compared. */
function masked(reply: string): string {
  return reply
    .replace(/3\.8\.0-.*/g, 'VERSION')
    .replace(/: \d+\/\d+\.\d{1,4}\/\d+$/gm, ': MIN/AVG/MAX')
    .replace(/(=|: |:|0x)[\da-f]+(?=[,)\n:[]|$)/gm, '$1N');
}
