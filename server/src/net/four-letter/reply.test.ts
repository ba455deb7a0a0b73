/**
 * The reply to each of ZooKeeper's words against what a real ZooKeeper 3.8.0 answered
 * (test/vectors): the same lines with the same keys in the same order; numbers, addresses and
 * versions are masked. Replies to words of our own belong here, too.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Summary } from '../../measures/summary.js';
import { LEADER_VIEW, memberView } from '../../simulated/net/fixtures.js';
import { counter } from '../figures.js';
import type { MemberView } from '../member-view.js';
import { ConnectionStats, ServerStats } from '../server-stats.js';
import type { ConnectionView } from './context.js';
import { PERCENTILE_NAMES, SUMMARY_NAMES } from './mntr.js';
import { readEnvironment, replyToWord } from './reply.js';
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
  electionPort: 2882,
  participant: true,
  membership: 'server.1=h:1:1:participant;2181\nversion=0',
};

const WALL_MS = 1_795_171_757_040;
const WITHOUT_ROOM: MemberView['health'] = {
  ...memberView().health,
  diskShortage: { freeBytes: 57_900_000, reserveBytes: 78_000_000 },
};

/** The names of the recorded mntr that Rookery does not have; mntr.ts says why. */
const NOT_HERE = new RegExp(
  [
    '_per_namespace$|netty|tls|_mtls_|ensemble_auth|unsuccessful_handshake',
    'dead_watcher|response_packet_|insecure_admin|socket_closing|_om_|observer_sync_time',
    'prep_process|sync_process|commit_proc|commitproc_time|in_commit_processor|_final_proc_time',
    'outstanding_changes_|request_commit_queued|write_committed|session_queue|proposal_process',
    'learner_request_processor|skip_learner_request|requests_not_forwarded|close_session_prep',
    'commit_propagation|proposal_ack_creation|throttled_ops|throttle_queue_time|stale_re',
    'connection_drop_probability|without_zk_server|quit_leading|unrecoverable|[^n]_revalidate_',
    'zk_revalidate_count|startup_snap_load|startup_txns_load_time|inflight_diff',
  ].join('|'),
);

/** The figures that do not come from the port but from `driver/member-status.ts`, all 0. */
const MEASURED: Partial<MemberView> = {
  extraMetrics: [
    ...['auth_failed_count', 'request_throttle_wait_count', 'proposal_count', 'commit_count'],
    ...['stale_sessions_expired', 'connection_revalidate_count', 'snap_count', 'diff_count'],
    ...['digest_mismatches_count', 'looking_count', 'learner_commit_received_count'],
    'learner_proposal_received_count',
  ].map((name) => counter(name, 0)),
  summaries: () =>
    [...SUMMARY_NAMES, ...PERCENTILE_NAMES].map((name) => [name, new Summary()] as const),
};

/** The keys of the recorded envi that Rookery does not have, with the reason. */
const ENVI_LEFT_OUT = [
  ['java.vendor', 'there is no Java'],
  ['java.home', 'there is no Java'],
  ['java.class.path', 'there is no Java'],
  ['java.library.path', 'there is no Java'],
  ['java.io.tmpdir', 'no file of a member lies outside its data directories'],
  ['java.compiler', 'there is no Java'],
] as const;

/** The keys that only our envi has, with the reason. */
const ENVI_OURS = [['node.version', 'the runtime, as java.version is for ZooKeeper']] as const;

describe('a reply to a four-letter word', () => {
  it('is the recorded one but for numbers, except for mntr, dump, envi, hash and stmk', () => {
    const words = ['srvr', 'stat', 'cons', 'conf', 'wchs', 'wchc', 'wchp'];
    for (const word of [...words, 'dirs', 'crst', 'srst', 'gtmk', 'ruok', 'isro']) {
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
    for (const ms of [0.5, 9]) stats.readLatency.record(ms);
    for (const ms of [0, 1.2]) stats.updateLatency.record(ms);
    const text = ask('srvr', { lastZxid: 0x1_0000_0033 }, { stats, clients: [] });
    expect(text).toContain('\nLatency min/avg/max: 0/2.675/9\nReceived: 94\nSent: 106\n');
    expect(text).toContain('\nZxid: 0x100000033\nMode: standalone\nNode count: 23\n');
  });

  it('tells proposal sizes on a leader only, as the last line of srvr and stat', () => {
    const changes = { mode: 'leader', quorum: QUORUM, leader: LEADER_VIEW } as const;
    expect(ask('srvr', changes).endsWith('\nProposal sizes last/min/max: 36/32/98\n')).toBe(true);
    expect(ask('srvr')).not.toContain('Proposal');
  });

  it('has, for mntr, each recorded name but those that are explained, and no other', () => {
    const names = namesOf(recorded['mntr'] ?? '').filter((name) => !NOT_HERE.test(name));
    const answered = namesOf(ask('mntr', MEASURED));
    expect(answered.filter((name) => !names.includes(name))).toEqual([]);
    expect(names.filter((name) => !answered.includes(name))).toEqual([]);
    expect(answered.slice(0, 2)).toEqual(['zk_version', 'zk_server_state']);
  });

  it('has, for mntr, values of the recorded form: integers bare, averages with decimals', () => {
    const forms = new Map(linesOf(recorded['mntr'] ?? '').map(([name, value]) => [name, value]));
    for (const [name, value] of linesOf(ask('mntr', MEASURED))) {
      if (name === 'zk_version' || name === 'zk_server_state') continue;
      const form = forms.get(name)?.includes('.') ? /^\d+\.\d{1,4}$/ : /^-?\d+$/;
      expect(value, name).toMatch(form);
    }
  });

  it('lists, for dump, sets of sessions and connections as the recorded ones', () => {
    const expiries = [
      { id: 0x100001f910e0003n, inMs: 4000 },
      { id: 0x100001f910e0002n, inMs: 10_000 },
    ];
    const text = ask('dump', { sessions: { expiries, all: [], local: null } });
    // ZooKeeper's empty sets (`0 expire at`), which Rookery does not print, are left out, and only
    // the kinds of lines are compared.
    expect(kindsOf(text)).toEqual(kindsOf(recorded['dump'] ?? ''));
    expect(text).toMatch(/^SessionTracker dump:\nSession Sets \(2\)\/\(2\):\n1 expire at \w{3} /);
    expect(text).toMatch(/\n1 expire at \w{3} \w{3} \d\d \d\d:\d\d:\d\d UTC \d{4}:\n\t0x100001f/);
  });

  it('lists, for dump, ephemerals by session, and timeouts where no leases are kept', () => {
    const text = ask('dump', {
      globalSessions: 1,
      sessions: { expiries: null, all: [{ id: 0x10, timeoutMs: 10_000 }], local: null },
      ephemeralOwners: 1,
      ephemerals: () => [{ session: 0x10, paths: ['/e1', '/e2'] }],
    });
    expect(text).toContain('SessionTracker dump:\nGlobal Sessions(1):\n0x10\t10000ms\n');
    expect(text).toContain('Sessions with Ephemerals (1):\n0x10:\n\t/e1\n\t/e2\nConnections');
  });

  it('tells local sessions from global ones in dump', () => {
    const local = [{ id: -5, inMs: 100 }];
    const leader = ask('dump', { sessions: { expiries: [], all: [], local } });
    expect(leader).toMatch(
      /:\nLocal Session Sets \(1\)\/\(1\):\n1 expire .*\n\t0xfffffffffffffffb\n/,
    );
    expect(leader).toContain('\nGlobal Session Sets (0)/(0):\nephemeral');
    const sessions = { expiries: null, all: [], local: [] };
    const follower = ask('dump', { globalSessions: 0, sessions });
    expect(follower).toContain('\nLocal Session Sets (0)/(0):\nGlobal Sessions(0):\nephemeral');
  });

  it('lists data watches by session and by path, with a blank line at the end', () => {
    const watchedPaths = () => [
      { path: '/nothere', sessions: [2] },
      { path: '/e1', sessions: [1, 2] },
    ];
    const watchingSessions = () => [
      { session: 2, paths: ['/nothere', '/e1'] },
      { session: 1, paths: ['/e1'] },
    ];
    const changes = { watchedPaths, watchingSessions };
    expect(ask('wchc', changes)).toBe('0x2\n\t/nothere\n\t/e1\n0x1\n\t/e1\n\n');
    expect(ask('wchp', changes)).toBe('/nothere\n\t0x2\n/e1\n\t0x1\n\t0x2\n\n');
  });

  it('remembers the trace mask that stmk sets', () => {
    const stats = new ServerStats();
    const context = { stats, clients: [] };
    const mask = Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe]);
    expect(ask('stmk', {}, context, undefined, mask)).toBe('-2');
    expect(ask('gtmk', {}, context)).toBe('-2');
  });

  it('says so in srvr and stat when the member only serves reads', () => {
    const second = 'READ-ONLY mode; serving only read-only clients';
    for (const word of ['srvr', 'stat']) {
      const text = ask(word, { mode: 'read-only' });
      expect(text.split('\n')[1], word).toBe(second);
      expect(text, word).toContain('\nMode: read-only\n');
    }
  });

  it('says in srvr and stat that the disk is full, and nothing of one that has room', () => {
    const line = 'Disk: full, 57 MB free, the reserve is 78 MB';
    for (const word of ['srvr', 'stat']) {
      expect(ask(word, { health: WITHOUT_ROOM }), word).toContain(`\n${line}\nNode count: `);
      expect(ask(word), word).not.toContain('Disk');
    }
  });

  it('has, for mntr on a leader, its followers under the new and the old name', () => {
    const text = ask('mntr', { mode: 'leader', quorum: QUORUM, leader: LEADER_VIEW });
    expect(text).toContain('zk_server_state\tleader\nzk_peer_state\tleading - broadcast\n');
    for (const line of ['learners\t2', 'synced_followers\t2', 'followers\t2', 'quorum_size\t3']) {
      expect(text).toContain(`\nzk_${line}\n`);
    }
  });

  it('lists the ensemble in conf of a quorum member', () => {
    const text = ask('conf', { quorum: QUORUM });
    expect(text).toContain('\ninitLimit=10\nsyncLimit=5\nelectionAlg=3\nelectionPort=2882\n');
    expect(text).toContain('\npeerType=0\nmembership: \nserver.1=h:1:1:participant;2181\n');
  });

  it('has the version in envi where kazoo looks for it', () => {
    const text = ask('envi', { environment: readEnvironment });
    expect(text).toMatch(/^Environment:\nzookeeper\.version=3\.8\.0-rookery[^\n]*\nhost\.name=/);
    expect(text).toMatch(/\nos\.memory\.max=\d+MB\n/);
  });

  it('has, for envi, each recorded key in its order but those that are explained', () => {
    const enviKeys = (text: string) => [...text.matchAll(/^([^=\n]+)=.+$/gm)].map(([, key]) => key);
    const without = (keys: readonly unknown[], explained: readonly (readonly string[])[]) => {
      for (const [key] of explained) expect(keys).toContain(key);
      return keys.filter((key) => explained.every(([left]) => left !== key));
    };
    const text = ask('envi', { environment: readEnvironment });
    const ours = without(enviKeys(text), ENVI_OURS);
    expect(ours).toEqual(without(enviKeys(recorded['envi'] ?? ''), ENVI_LEFT_OUT));
    // java.version stays for scripts that ask for it, with the answer that there is none.
    expect(text).toContain('\njava.version=<NA>\n');
  });

  it('pairs zxids and digests in hash', () => {
    const digests = [{ zxid: 0x1_0000_000a, digest: '00000000deadbeef' }];
    expect(ask('hash', { digests })).toBe('10000000a: 00000000deadbeef\n');
  });

  it('shows a negative session id as unsigned', () => {
    const stats = new ConnectionStats(new ServerStats(), 0);
    stats.sessionId = -2;
    const address = { remoteAddress: '10.0.0.1', remotePort: 1 };
    const connection = { ...address, interestOps: 1, expiresWallMs: 0, isSecured: false, stats };
    expect(ask('cons', {}, { clients: [connection] })).toContain('sid=0xfffffffffffffffe,');
  });

  it('resets what crst and srst say they reset', () => {
    const stats = new ServerStats();
    const own = clients(stats);
    ask('crst', {}, { stats, clients: own });
    expect(own.map((connection) => connection.stats.received)).toEqual([0, 0]);
    expect(stats.packetsReceived).not.toBe(0);
    ask('srst', {}, { stats, clients: own });
    expect([stats.packetsReceived, stats.packetsSent, stats.latency.count]).toEqual([0, 0, 0]);
  });
});

describe('a four-letter word that is not answered', () => {
  it('says that the member does not serve, except for the words that are always answered', () => {
    const idle = 'This ZooKeeper instance is not currently serving requests\n';
    for (const word of ['srvr', 'stat', 'mntr', 'cons', 'conf', 'dump', 'wchs', 'wchc', 'wchp']) {
      expect(ask(word, { serving: false }), word).toBe(idle);
    }
    const health = { ...WITHOUT_ROOM, sparedBy: 3 };
    for (const word of ['srvr', 'stat', 'mntr']) {
      const line =
        'Disk: full, 57 MB free, the reserve is 78 MB; leader 3 goes on without this member\n';
      expect(ask(word, { serving: false, health }), word).toBe(
        word === 'mntr' ? idle : idle + line,
      );
    }
    expect(ask('hash', { serving: false })).toBe(idle.trimEnd());
    expect(ask('ruok', { serving: false })).toBe('imok');
    expect(ask('isro', { serving: false })).toBe('null');
    expect(ask('gtmk', { serving: false })).toBe('306');
    expect(ask('envi', { serving: false })).toMatch(/^Environment:/);
  });

  it('says in srvr and stat what the member waits for', () => {
    const { health } = memberView();
    const waiting = { serving: false, health: { ...health, waitsFor: 'not connected: 3' } };
    const idle = 'This ZooKeeper instance is not currently serving requests\n';
    for (const word of ['srvr', 'stat']) {
      expect(ask(word, waiting), word).toBe(`${idle}Waits: not connected: 3\n`);
    }
    for (const word of ['mntr', 'cons', 'conf']) expect(ask(word, waiting), word).toBe(idle);
    expect(ask('hash', waiting)).toBe(idle.trimEnd());
  });

  it('says so when it is not whitelisted', () => {
    const whitelist = new FourLetterWhitelist(['srvr', 'ruok']);
    const refused = 'stat is not executed because it is not in the whitelist.\n';
    expect(ask('stat', {}, {}, whitelist)).toBe(refused);
    expect(ask('ruok', {}, {}, whitelist)).toBe('imok');
  });
});

describe('the first four bytes', () => {
  it('are a word only when they are the name of one', () => {
    expect(readFirstBytes(Buffer.from('stat')).kind).toBe('word');
    expect(readFirstBytes(Buffer.from('Stat')).kind).toBe('frames');
    // Commands of ZooKeeper's admin server that never were words.
    for (const name of ['orst', 'lsnp', 'obsr', 'sysp']) {
      expect(readFirstBytes(Buffer.from(name)).kind).toBe('frames');
    }
    expect(readFirstBytes(Buffer.from([0, 0, 0, 45])).kind).toBe('frames');
    expect(readFirstBytes(Buffer.from([0xff, 0xf4, 0xff, 0xfd])).kind).toBe('telnetClose');
  });
});

function ask(
  name: string,
  changes: Partial<MemberView> = {},
  context: { readonly stats?: ServerStats; readonly clients?: readonly ConnectionView[] } = {},
  whitelist = new FourLetterWhitelist('*'),
  argument = Buffer.alloc(0),
): string {
  const first = readFirstBytes(Buffer.from(name));
  if (first.kind !== 'word') throw new Error(`${name} is not a word`);
  const stats = context.stats ?? new ServerStats();
  const all = context.clients ?? clients(stats);
  const view = memberView(changes);
  const asked = { word: first.word, argument };
  const reply = replyToWord(asked, whitelist, {
    view,
    stats,
    wallMs: WALL_MS,
    connectionCount: all.length,
    connections: () => all,
  });
  return [...reply].join('');
}

function linesOf(text: string): string[][] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t'));
}

function namesOf(text: string): string[] {
  return linesOf(text).map(([name = '']) => name);
}

/** The kinds of lines of a dump, each once and in order. */
function kindsOf(dump: string): string[] {
  const kinds = dump
    .split('\n')
    .filter((line) => !line.startsWith('0 expire'))
    .map((line) => line.replace(/\d+ expire at .*/, 'EXPIRE').replace(/\d+\)/g, 'N)'))
    .map((line) => line.replace(/\/[\d.]+:\d+/, 'ADDRESS').replace(/0x[\da-f]+/, 'ID'));
  return [...new Set(kinds)];
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
  const expiresWallMs = WALL_MS + 4000;
  const common = { expiresWallMs, isSecured: false };
  return [
    { remoteAddress: '127.0.0.1', remotePort: 43048, interestOps: 0, ...common, stats: asker },
    {
      remoteAddress: '127.0.0.1',
      remotePort: 42964,
      interestOps: 1,
      expiresWallMs,
      isSecured: false,
      stats: session,
    },
  ];
}

/** Replaces what differs from run to run, so that only the shape is compared. */
function masked(reply: string): string {
  return reply
    .replace(/3\.8\.0-.*/g, 'VERSION')
    .replace(/: \d+\/\d+\.\d{1,4}\/\d+$/gm, ': MIN/AVG/MAX')
    .replace(/(=|: |:|0x)[\da-f]+(?=[,)\n:[]|$)/gm, '$1N');
}
