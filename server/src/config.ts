/**
 * The configuration of an ensemble: what each setting means, and how the file is loaded.
 *
 * One file serves all members; `--id` says which of them this process is. Loading reads the file
 * and nothing else: no directory is made and no port is touched before every problem of the file
 * is known, and all of them are reported at once. `config-schema.ts` holds the rules. Called by
 * the command line and by whoever embeds a member.
 */
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { PeerId } from '@rookery/protocol';
import { checkSettings, type LogLevel } from './config-schema.js';
import type { FourLetterWords } from './four-letter-words.js';
import { OperatorError } from './operator-error.js';

/** One member of the ensemble, as every other member and its clients reach it. */
export interface ServerAddress {
  /**
   * 1 to 255, unique in the file. It names the member's directory and breaks ties in elections, so
   * it belongs to the data and never moves to another machine without it. 255 needs
   * `extendedTypes` off, because the owner field of a TTL znode begins with that byte.
   */
  readonly id: PeerId;
  /**
   * A host name or an IP address that all other members can dial; the member listens on it too.
   * With more than one server, a wildcard such as 0.0.0.0 is refused: nobody can dial it.
   */
  readonly host: string;
  /** TCP port for clients, 1 to 65535. No other port of the file on the same host may equal it. */
  readonly clientPort: number;
  /**
   * TCP port for the other members, 1 to 65535. Nobody else needs to reach it: do not expose it.
   */
  readonly peerPort: number;
  /**
   * TCP port of HTTP for monitoring, on `metricsHost`: `/metrics` for Prometheus, `/livez` and
   * `/readyz` for probes. By default it is not there. It shows numbers and states to whoever
   * reaches it, and changes nothing.
   */
  readonly metricsPort?: number | undefined;
  /**
   * TCP port of HTTP for administrators, on `adminHost`: `/commands/*` as ZooKeeper's, the events
   * of the member, and what the metrics port has. By default it is not there.
   */
  readonly adminPort?: number | undefined;
}

export interface Config {
  /**
   * Where the members keep their data, absolute; in the file it may be relative to the file. A
   * member uses `<dataDir>/<id>`. It must be on a local disk that honours fsync: a disk that lies
   * about it can lose acknowledged writes.
   */
  readonly dataDir: string;
  /**
   * Where the members keep their write log, `<dataLogDir>/<id>`; default `dataDir`. On a disk of
   * its own a commit does not wait for a checkpoint. Lost, it counts as a damaged member.
   */
  readonly dataLogDir: string;
  /**
   * The unit of `initLimit`, `syncLimit` and the session limits, in ms; default 2000. It decides
   * nothing by itself: a failed peer is noticed by `peerTimeoutMs`. All members need the same
   * value, else the session timeout that a client gets depends on the member it asks.
   */
  readonly tickTimeMs: number;
  /** All members, in the order of the file; a single one is a standalone server. */
  readonly servers: readonly ServerAddress[];
  /**
   * Ticks that a member may take to join a leader and receive its state; default 10. Too small for
   * the size of the tree and the network, and a member with much to catch up never joins: it
   * starts over each time.
   */
  readonly initLimit: number;
  /**
   * Ticks that a member that has joined may leave a proposal unacknowledged; default 5. Too small
   * for the slowest disk, and that member is dropped under load; too large, and a member that no
   * longer logs keeps its clients for so long.
   */
  readonly syncLimit: number;
  /**
   * Time between heartbeats on an idle link between members, in ms; default 100. It bounds how
   * late a session's touch reaches the leader. Must be less than half of `peerTimeoutMs`.
   */
  readonly peerHeartbeatMs: number;
  /**
   * Silence after which a link between members counts as dead, in ms; default 1000, more than
   * twice `peerHeartbeatMs`. It is how soon a dead or frozen leader is noticed, and how long a
   * member without contact to its leader keeps its clients. Too small for a pause of the machine
   * (a stalled disk, a migrated virtual machine), and healthy leaders are deposed.
   */
  readonly peerTimeoutMs: number;
  /**
   * Shortest session timeout that a client is granted, in ms; default 2 ticks. A client that asks
   * for less gets this. Not greater than `maxSessionTimeoutMs`.
   */
  readonly minSessionTimeoutMs: number;
  /**
   * Longest session timeout that a client is granted, in ms; default 20 ticks. It bounds how long
   * the ephemeral znodes of a vanished client stay.
   */
  readonly maxSessionTimeoutMs: number;
  /**
   * Client connections at one time from one address; default 0, no limit. One more is closed
   * without a reply. It protects a member's memory and file descriptors from a client in a loop.
   */
  readonly maxClientCnxns: number;
  /**
   * Connections of clients that a member takes at once before `connectionTokensPerSecond` limits
   * them; default 0, no limit. One more is closed without a reply, and counts as rejected. It
   * protects a member from the storm of reconnects behind a restart. ZooKeeper's
   * connectionMaxTokens.
   */
  readonly connectionTokensMax: number;
  /**
   * How many more may come every second once these are used up; default 100. Without effect while
   * `connectionTokensMax` is 0. Too small, and clients come back more slowly than their sessions
   * expire.
   */
  readonly connectionTokensPerSecond: number;
  /**
   * Requests of clients that a member has taken in and not yet answered; default 1000. Handshakes
   * are among them, and have a quarter of it at most: more of them wait in line. Past it the member
   * stops reading from connections with an unanswered request, so that memory stays bounded and
   * clients feel the pressure. One client has a share that leaves room for one more than have
   * requests pending: half of it, for a client alone. Too small, and pipelining clients wait for
   * nothing.
   */
  readonly globalOutstandingLimit: number;
  /**
   * Largest frame taken from a client, in bytes without the length prefix; default 1048575. A
   * longer one closes the connection unread. Clients must use the same value (`jute.maxbuffer`),
   * else they write what they cannot read back. Every frame is held in memory by all members, and
   * heartbeats wait behind it: above 8 MB, `peerTimeoutMs` must be a millisecond for every 8 KB.
   */
  readonly frameBytesMax: number;
  /**
   * Bytes of requests that all clients of a member together may have waiting in it: frames that are
   * not complete yet, and whole ones that are not answered. Default null: a share of the memory
   * that the member may use, at most 256 MB. Past it the connections that hold most are closed.
   * Too small, and clients that send many large requests at once lose their connections.
   */
  readonly inputBytesMax: number | null;
  /**
   * Bytes of answers and watch events that all clients of a member together may leave unread; the
   * largest of them is not counted, so that a client alone gets an answer of any size. Default
   * null: a share of the memory that the member may use, at most 512 MB. Past it the connections
   * that leave most unread are closed. Too small, and clients that list large directories at the
   * same time lose their connections.
   */
  readonly outputBytesMax: number | null;
  /**
   * Which four-letter words the client port answers, to whoever reaches it: '*' for all, or a list;
   * in the file, separated by commas. Others get the refusal that ZooKeeper gives. By default all
   * are answered where every server's host is a loopback address. Elsewhere `wchp`, `wchc` and
   * `dump` (paths and sessions), `cons` (sessions) and `crst`, `srst` and `stmk` (which change
   * something) must be listed. Of the others `stat` shows the addresses of clients, `conf` the
   * members and the data directories, `envi` the host and the user; `ruok`, `isro`, `srvr`, `mntr`,
   * `wchs`, `dirs`, `hash` and `gtmk` show numbers and states.
   */
  readonly fourLetterWords: FourLetterWords;
  /**
   * Whether znodes with a time to live can be created; default true. All members need the same
   * value. Needs every id to be at most 254.
   */
  readonly extendedTypes: boolean;
  /**
   * `super:` and the base64 SHA-1 of `super:password`: who authenticates with that password passes
   * every ACL. Default null: there is no such user.
   */
  readonly superDigest: string | null;
  /** Whether ACLs are ignored; default false. For development: everybody may do everything. */
  readonly skipACL: boolean;
  /** Whether a write past a quota is refused; default false: quotas are counted and logged only. */
  readonly enforceQuota: boolean;
  /**
   * What the tree may take in memory, bytes, by the estimate that `mntr` shows as `zk_tree_bytes`;
   * default null: about 0.4 of what the member with the least memory may use above 112 MB (its
   * control group's limit, else its machine's memory). A write that would add more is answered -125
   * (QuotaExceeded); deletes, smaller data, sessions and reads go on. If it is more than the memory
   * allows, the kernel ends members before the bound holds. The leader decides, so all members need
   * the same value.
   */
  readonly treeBytesMax: number | null;
  /**
   * Ephemeral znodes that one session may own; default 1,000,000. To create one more is answered
   * -125 (QuotaExceeded), whatever becomes of those in flight. All of them are deleted when the
   * session ends, which takes each member about five seconds for a million, spread over as many
   * turns as it needs. The leader decides, so all members need the same value.
   */
  readonly ephemeralsPerSessionMax: number;
  /**
   * Operations in one multi, or in one multiRead; default 4,096. One with more is answered -8
   * (BadArguments) as a whole, and the connection stays. Each is decided, applied and answered in
   * one go, so that everybody sees all of it or nothing; meanwhile a member serves nobody else, for
   * some 12 ms at the default. The leader decides about multis, so all members need the same value.
   */
  readonly multiOpsMax: number;
  /**
   * Segments of the path of a znode; default 2,000. To create one deeper is answered -8
   * (BadArguments). A write looks at every ancestor of its znode (quotas, recursive watches, sizes
   * of subtrees), which takes about 0.1 ms at the default. Znodes that are deeper already stay and
   * can be read, written and deleted. The leader decides, so all members need the same value.
   */
  readonly pathDepthMax: number;
  /**
   * Whether a member cut off from its quorum serves reads to clients that allow it; default false.
   * They see what this member had applied, which may be long out of date. It begins after twice
   * `peerTimeoutMs`, ends with these connections when a quorum is back, and is not for a member
   * that was wiped or damaged, or that was started anew and has no checkpoint yet.
   */
  readonly readOnlyMode: boolean;
  /**
   * Whether clients get sessions that only their member knows; default false. Saves two writes per
   * session. Such a session can be resumed at its member alone, ends with that member's process,
   * and owns no ephemeral znodes: creating one is answered -120, as ZooKeeper does unless it may
   * upgrade sessions.
   */
  readonly localSessions: boolean;
  /** Whether clients may change the list of members; default false: such requests answer -123. */
  readonly reconfigEnabled: boolean;
  /**
   * The highest ensemble level that this member lets the ensemble be raised to; default null, no
   * limit. While it holds the level down, all members can go back to the release before. Without
   * it the level is raised as soon as every member runs the new release.
   */
  readonly holdLevel: number | null;
  /**
   * Where each member's `metricsPort` listens; default null: on the server's own `host`. A wildcard
   * such as 0.0.0.0 is allowed.
   */
  readonly metricsHost: string | null;
  /**
   * Where each member's `adminPort` listens; default 127.0.0.1: this machine alone can ask. Another
   * address than a loopback one needs `adminUsers` or `superDigest`, because paths, sessions and
   * addresses of clients are shown. There is no TLS: passwords cross the network readable.
   */
  readonly adminHost: string;
  /**
   * Who may use the admin port: `user:` and the base64 SHA-1 of `user:password` each, as in an ACL
   * of scheme digest. Default none. While there are any, or `superDigest`, each request must bring
   * one of their passwords.
   */
  readonly adminUsers: readonly string[];
  /** Least severe log line that is written; default 'info'. 'debug' has a line per request. */
  readonly logLevel: LogLevel;
}

/** The file cannot be used; the message has one line for each problem. */
export class ConfigError extends OperatorError {
  override readonly name = 'ConfigError';
  /** What is wrong, each with its key path and what was expected. */
  readonly problems: readonly string[];

  constructor(path: string, problems: readonly string[]) {
    const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
    super([`${path}: ${count}`, ...problems.map((problem) => `  ${problem}`)].join('\n'));
    this.problems = problems;
  }
}

/**
 * Reads and checks the file at `path` for the member `id`, which the file must list. Throws
 * ConfigError with every problem found.
 */
export function loadConfig(path: string, id: PeerId): Config {
  const config = loadEnsembleConfig(path);
  const ids = config.servers.map((server) => server.id);
  if (!ids.includes(id)) {
    throw new ConfigError(path, [`servers: none has the id ${id} (there is ${ids.join(', ')})`]);
  }
  return config;
}

/** The same for who starts all members and is none of them. */
export function loadEnsembleConfig(path: string): Config {
  const raw = readJson(path);
  const { settings, problems } = checkSettings(raw);
  if (settings === null) throw new ConfigError(path, problems);
  const folder = dirname(resolve(path));
  const dataDir = resolve(folder, settings.dataDir);
  return {
    ...settings,
    dataDir,
    dataLogDir: settings.dataLogDir === null ? dataDir : resolve(folder, settings.dataLogDir),
  };
}

/**
 * ZooKeeper's text of the members has a port of its own for elections, and its parsers insist that
 * it differs from the others; here one port serves both, so this is one that nobody listens on.
 */
export function electionPortOf({ peerPort, clientPort }: ServerAddress): number {
  const free = [peerPort + 1, peerPort + 2, peerPort - 1, peerPort - 2];
  return free.find((port) => port !== clientPort && port > 0 && port <= 65_535) ?? peerPort + 1;
}

/** Where member `id` keeps its tree and its log; both are its own alone. */
export function memberDirectories(config: Config, id: PeerId): { data: string; log: string } {
  return { data: join(config.dataDir, `${id}`), log: join(config.dataLogDir, `${id}`) };
}

const BYTE_ORDER_MARK = '\uFEFF';

function readJson(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError(path, [`cannot be read: ${messageOf(error)}`]);
  }
  try {
    // Some editors begin a file with a byte order mark; it says nothing here.
    return JSON.parse(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text);
  } catch (error) {
    throw new ConfigError(path, [`is not JSON: ${messageOf(error)}`]);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
