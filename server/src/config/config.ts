/**
 * The configuration of an ensemble: what each setting means, and how the file is loaded.
 *
 * One file serves all members; `--id` says which of them this process is. Loading reads the file
 * and nothing else: no directory is made and no port is touched before every problem of the file
 * is known, and all of them are reported at once. `config-schema.ts` holds the rules. Called by
 * the command line and by programs that embed a member.
 */
import { dirname, join, resolve } from 'node:path';
import { errorMessage, type PeerId } from '@rookery/protocol';
import { readFileUpTo, SMALL_FILE_BYTES_MAX } from './bounded-file.js';
import { checkSettings, type LogLevel } from './config-schema.js';
import {
  type PeerAuth,
  resolvedPeerAuth,
  resolvedSasl,
  resolvedTls,
  type SaslSettings,
  type TlsSettings,
} from './config-security.js';
import type { AllowedWords } from './four-letter-words.js';
import { OperatorError } from './operator-error.js';
import { DuplicateKeysError, parseStrictJson } from './strict-json.js';

/** One member of the ensemble, as every other member and its clients reach it. */
export interface ServerAddress {
  /**
   * An integer from 1 to 255, unique in the file. It names the member's directory and breaks ties
   * in elections. It belongs to the data, and never moves to another machine without it. 255 needs
   * `extendedTypes` to be false, because the owner field of a TTL znode begins with that byte.
   */
  readonly id: PeerId;
  /**
   * A host name or an IP address that all other members can dial. The member also listens on it,
   * unless `listen` says where. Where a name is needed for that and does not resolve yet, the
   * member waits for it and says so. With more than one server, a wildcard such as 0.0.0.0 is
   * refused, because it cannot be dialed.
   */
  readonly host: string;
  /**
   * The addresses of this machine on which the member listens for clients and for other members: a
   * host name, an IP address, `"*"` for all addresses of both families, or a list of them; default
   * `host`. It is needed where `host` is not an address of the machine itself, as behind NAT or a
   * load balancer, in a container whose name others resolve differently, or where the machine's own
   * name resolves to a loopback address.
   */
  readonly listen?: string | readonly string[] | undefined;
  /**
   * The same, only for the port for other members; default `listen`. It keeps that port on a
   * private network while clients come by another one.
   */
  readonly peerListen?: string | readonly string[] | undefined;
  /**
   * The host under which clients reach the member, where that is another one than for members;
   * default `host`. It is shown in `/zookeeper/config` and in connect strings, and nothing else
   * depends on it.
   */
  readonly clientHost?: string | undefined;
  /** The TCP port for clients. No other port of the file on the same host may equal it. */
  readonly clientPort: number;
  /**
   * A further TCP port for clients, on which all of them speak TLS. It needs `tls`. By default it
   * is not there.
   */
  readonly secureClientPort?: number | undefined;
  /** The TCP port for the other members. Only they need to reach it: do not expose it. */
  readonly peerPort: number;
  /**
   * TCP port of HTTP for monitoring, on `metricsHost`: `/metrics` for Prometheus, `/livez` and
   * `/readyz` for probes. By default it is not there. It shows numbers and states to every
   * client that reaches it, and changes nothing.
   */
  readonly metricsPort?: number | undefined;
  /**
   * TCP port of HTTP for administrators, on `adminHost`: `/commands/*` as ZooKeeper's, the REST
   * API, the console, and what the metrics port has. By default it is not there.
   */
  readonly adminPort?: number | undefined;
}

export interface Config {
  /**
   * The directory in which members keep their data, absolute or relative to the config file. A
   * member uses `<dataDir>/<id>`. It must be on a local disk that honours fsync: a disk that
   * reports data as synced too early can lose acknowledged writes.
   */
  readonly dataDir: string;
  /**
   * The directory in which members keep their write-ahead log, `<dataLogDir>/<id>`; by default
   * `dataDir`. On a disk of its own, a commit does not wait for a checkpoint. A member that loses
   * this directory counts as damaged.
   */
  readonly dataLogDir: string;
  /**
   * The unit of `initLimit`, `syncLimit` and the session limits, in ms; default 2000. It decides
   * nothing by itself: `peerTimeoutMs` determines when a failed peer is noticed. All members need
   * the same value, because otherwise a client's session timeout would depend on the member that it
   * asks.
   */
  readonly tickTimeMs: number;
  /** All members, in any order. A single entry makes a standalone server. */
  readonly servers: readonly ServerAddress[];
  /**
   * The name of the ensemble for monitoring: every metric of its members has it in the label
   * `ensemble`, by which alerts and dashboards distinguish ensembles. Letters, digits, `.`, `_` and
   * `-`, 64 at most. The default null means no such label, which suffices for a Prometheus that
   * watches one ensemble. It decides nothing else. All members need the same value, because
   * otherwise alerts count them as several ensembles.
   */
  readonly ensembleName: string | null;
  /**
   * How members prove to each other that they belong to the ensemble, before anything else is said
   * on the port for members. `{ "secretFile": "peer.secret" }` names a file with a secret that all
   * members know, absolute or relative to the config file. It has one line of at least 32
   * characters, or two while the secret is replaced, and only its owner can read it. A change of
   * the file needs no restart. With only a secret, what members say is not encrypted.
   *
   * `{ "tls": { "certFile", "keyFile", "caFile" } }` secures all that members say by TLS, with a
   * certificate at both ends: see [how members authenticate each
   * other](operations/peer-authentication.md#certificates). With both, `secretFile` and `tls`,
   * either is accepted, and TLS is tried first.
   *
   * With `"required": false` in the object, members without `peerAuth` are let in, too. It is for
   * the time until all members have `peerAuth`; remove it then. `"none"` means that any process
   * that reaches the port can speak as a member. The default null means the same, and is refused
   * unless all members listen for each other on loopback addresses.
   */
  readonly peerAuth: PeerAuth | 'none' | null;
  /**
   * The time that a member may take to join a leader and receive its state, in units of
   * `tickTimeMs`; default 10. If it is too small for the size of the tree and the network, a member
   * that has much to catch up never joins, because it starts over each time.
   */
  readonly initLimit: number;
  /**
   * The time for which a member that has joined may leave a proposal unacknowledged, in units of
   * `tickTimeMs`; default 5. If it is too small for the slowest disk, that member is dropped under
   * load. If it is too large, a member that no longer logs keeps its clients for that long.
   */
  readonly syncLimit: number;
  /**
   * The time between heartbeats on each link between members, in ms; default 100. It bounds how
   * late a session's touch reaches the leader. It must be less than half of `peerTimeoutMs`.
   */
  readonly peerHeartbeatMs: number;
  /**
   * The silence after which a link between members counts as dead, in ms; default 1000, more than
   * twice `peerHeartbeatMs`. It determines how soon a dead or frozen leader is noticed, and how
   * long a member without contact to its leader keeps its clients. If it is shorter than a pause of
   * the machine (a stalled disk, a migrated virtual machine), healthy leaders are deposed.
   */
  readonly peerTimeoutMs: number;
  /**
   * The shortest session timeout that a client is granted, in ms; default 2 times `tickTimeMs`. A
   * client that asks for less gets this. It must not be greater than `maxSessionTimeoutMs`.
   */
  readonly minSessionTimeoutMs: number;
  /**
   * The longest session timeout that a client is granted, in ms; default 20 times `tickTimeMs`. The
   * ephemeral znodes of a vanished client stay for its timeout and twice `peerTimeoutMs`, and
   * longer after a change of leader or the loss of a link between members.
   */
  readonly maxSessionTimeoutMs: number;
  /**
   * The number of client connections that one address may have at a time; default 60, and no limit
   * for loopback addresses. 0 means no limit, and any number that is given holds for loopback
   * addresses, too. IPv6 addresses of one network of 64 bits count as one. One more is closed
   * without a reply (`client.refused`); four-letter words are answered. Clients behind one proxy,
   * or one translation of addresses such as that of a container's host, share its address: set a
   * number that is enough for all of them.
   */
  readonly maxClientCnxns: number | null;
  /**
   * The number of client connections that a member accepts at once before
   * `connectionTokensPerSecond` limits them; default 0, which means no limit. One more is closed
   * without a reply, and counts as rejected. It protects a member from the storm of reconnects
   * after a restart. It is ZooKeeper's connectionMaxTokens.
   */
  readonly connectionTokensMax: number;
  /**
   * The number of further connections that may come each second once `connectionTokensMax` is used
   * up; default 100. It has no effect while `connectionTokensMax` is 0. If it is too small, clients
   * come back more slowly than their sessions expire.
   */
  readonly connectionTokensPerSecond: number;
  /**
   * The number of client requests that a member may have taken in and not yet answered; default
   * 1000. Handshakes are among them and have a quarter of it at most; more of them wait in line.
   * At the limit, the member stops reading from each connection that sends one more request that
   * has to wait for its answer, so that memory stays bounded and clients feel the pressure. If the
   * limit is too small, clients that pipeline requests wait although the member has time for them.
   *
   * While n clients have requests pending, each may have one part in n + 1 of it, so a single
   * client gets half; one that has its share is not read either. The bytes of these requests have
   * [a bound of their own](limits.md#requests-and-answers).
   */
  readonly globalOutstandingLimit: number;
  /**
   * The requests per second that each member takes from one client; default 0, for no bound. A
   * client is known by its certificate or by SASL, and otherwise by its address (of IPv6 the
   * network of 64 bits), however many connections it has. The requests of a second may come at
   * once. Past the bound, the client's requests wait, as by ZooKeeper's throttling, and its
   * connections are served round-robin. No request fails. Super users are not bounded. Pings are
   * requests, too: if it is too small for the number of a client's sessions, their pings are
   * answered too late, and the client gives them up.
   */
  readonly requestsPerSecondMax: number;
  /**
   * The largest frame that a client may send, in bytes without the length prefix; default 1048575.
   * A longer one closes the connection unread. Clients must use the same value (`jute.maxbuffer`),
   * because otherwise they write what they cannot read back. All members hold every frame in
   * memory, and heartbeats wait behind it: above 8 MB, `peerTimeoutMs` must be at least a
   * millisecond for every 8 KB.
   */
  readonly frameBytesMax: number;
  /**
   * The bytes of requests that all clients of a member together may have waiting in it: incomplete
   * frames, and whole ones that are not answered. The default null means a share of the memory that
   * the member may use, at most 256 MB. Past it, the connections that hold most are closed. If it
   * is too small, clients that send many large requests at once lose their connections.
   */
  readonly inputBytesMax: number | null;
  /**
   * The bytes of answers and watch events that all clients of a member together may leave unread.
   * The largest of them is not counted, so that a single client gets an answer of any size. The
   * default null means a share of the memory that the member may use, at most 512 MB. Past it, the
   * connections that leave most unread are closed. If it is too small, clients that list large
   * directories at the same time lose their connections.
   */
  readonly outputBytesMax: number | null;
  /**
   * Which four-letter words the client port answers, to all clients: '*' for all, or a list,
   * separated by commas in the file. Others are refused as ZooKeeper refuses them. By default all
   * are answered if every server opens its client port only on loopback addresses (`listen`, or
   * `host` without it). Elsewhere `wchp` and `wchc` (paths and sessions), `dump` (ephemerals by
   * session, and sessions: at the leader with the times at which they expire, at a follower with
   * their timeouts), `cons` (sessions), and `crst`, `srst` and `stmk` (which change something) must
   * be named.
   *
   * Of the others, `stat` shows the addresses of clients, `conf` the members and the data
   * directories, and `envi` the host and the user; `ruok`, `isro`, `srvr`, `mntr`, `wchs`, `dirs`,
   * `hash` and `gtmk` show numbers and states.
   */
  readonly fourLetterWords: AllowedWords;
  /**
   * Whether znodes with a time to live can be created; default true. All members need the same
   * value. It requires every id to be at most 254.
   */
  readonly extendedTypes: boolean;
  /**
   * The hash of the super user's password, as `rookery config hash-password super` prints it. The
   * former form is read, too, with a warning, because it is fast to guess: `super:` and the base64
   * SHA-1, SHA-256 or SHA-512 of `super:password`, whatever `digestAlgs` says. A client that
   * authenticates with that password passes every ACL. The default null means that there is no such
   * user.
   */
  readonly superDigest: string | null;
  /**
   * TLS for clients: see [its settings](#the-settings-of-tls). The default null means that clients
   * connect in plain text. Its files are read at the start and again whenever they change. Each
   * member may have files of its own; relative paths begin at the config file.
   */
  readonly tls: TlsSettings | null;
  /**
   * SASL for clients, by DIGEST-MD5: see [its settings](#the-settings-of-sasl). The default null
   * means that no client authenticates so.
   */
  readonly sasl: SaslSettings | null;
  /**
   * The algorithms of the digest scheme, some of `SHA1`, `SHA256` and `SHA512`; default ["SHA1"],
   * as in ZooKeeper. A password proves the digest of each, so that it matches ACLs of each, and the
   * first one is written into ACLs in place of `auth`. All members need the same value. [Digests of
   * other hashes](operations/security.md#digests-of-other-hashes) says how to change it.
   */
  readonly digestAlgs: readonly ('SHA1' | 'SHA256' | 'SHA512')[];
  /**
   * Schemes of which every client must have proved one before it may do anything: `sasl`, `x509`,
   * `digest`. A request of another client, a ping too, is answered -124 and its connection closed.
   * By default nothing is asked. `digest` by itself locks no client out, because any client may
   * choose a user and a password.
   */
  readonly enforceAuth: readonly ('digest' | 'x509' | 'sasl')[];
  /**
   * Identities that pass every ACL, besides that of `superDigest`: `x509:` and the subject of a
   * certificate, `sasl:` and a user, or `digest:` and an id as ACLs have it. Default none.
   */
  readonly superIdentities: readonly string[];
  /**
   * The ACL that the root gets when the ensemble is founded, and with it `/zookeeper` and
   * `/zookeeper/quota`: a list of `scheme:id:permissions`, such as `sasl:ann:cdrwa`. The default
   * null means `world:anyone:cdrwa`, as in ZooKeeper. It has no effect on an ensemble that exists,
   * or whose state is restored or imported. All members need the same value when they found one.
   */
  readonly rootAcl: readonly string[] | null;
  /** Whether ACLs are ignored; default false. For development: every client may do everything. */
  readonly skipACL: boolean;
  /**
   * Whether a write that exceeds a hard limit of a quota is refused; default false. Soft limits,
   * and hard ones without this setting, are only counted and logged.
   */
  readonly enforceQuota: boolean;
  /**
   * The memory that the tree may take, in bytes, by the estimate that `mntr` shows as
   * `zk_tree_bytes`. The default null means about 0.4 of what the member with the least memory may
   * use above 112 MB (the limit of its control group, otherwise its machine's memory). A write that
   * would add more is answered -125 (QuotaExceeded); deletes, smaller data, sessions and reads
   * continue. If it is more than the memory allows, the kernel ends members before the bound is
   * reached. The leader decides, so all members need the same value.
   */
  readonly treeBytesMax: number | null;
  /**
   * Free bytes below which the disk of `dataDir` or `dataLogDir` counts as full. The default null
   * means 500 MB or 2 % of the disk, whichever is more, but at most a quarter of a small disk.
   * A member whose disk is full steps out, and a leader hands over, while members with room are a
   * majority. Otherwise create, setData and setACL are answered -125 (QuotaExceeded); deletes,
   * sessions, reads and sync continue. The disk counts as full until a tenth more than this is
   * free. The member warns when less than a fifth of the disk, or less than twice this, is free. 0
   * turns it off for this member.
   */
  readonly diskReserveBytes: number | null;
  /**
   * The number of ephemeral znodes that one session may own; default 1,000,000. Creating one more
   * is answered -125 (QuotaExceeded), and those in flight count. All of them are deleted when the
   * session ends, which takes each member about five seconds for a million, spread over as many
   * turns as needed. The leader decides, so all members need the same value.
   */
  readonly ephemeralsPerSessionMax: number;
  /**
   * The number of operations in one multi or multiRead; default 4,096. One with more is answered -8
   * (BadArguments) as a whole, and the connection stays. A multi is decided, applied and answered
   * in one go, so that clients see all of it or nothing; meanwhile a member serves no other client,
   * for some 12 ms at the default. The leader decides about multis, so all members need the same
   * value.
   */
  readonly multiOpsMax: number;
  /**
   * The number of segments that the path of a znode may have; default 2,000. Creating a deeper one
   * is answered -8 (BadArguments). A write looks at every ancestor of its znode (quotas, recursive
   * watches, sizes of subtrees), which takes about 0.1 ms at the default. Znodes that are deeper
   * already stay, and can be read, written and deleted. The leader decides, so all members need the
   * same value.
   */
  readonly pathDepthMax: number;
  /**
   * The time for which a container that never had a child stays, in ms since its last change; the
   * default 0 means that it stays until a client deletes it. One that has had a child is deleted
   * within about a minute once it is empty, whatever this says. It is ZooKeeper's
   * znode.container.maxNeverUsedIntervalMs. If it is too short, containers go before the clients
   * that made them use them. The leader decides, so all members need the same value.
   */
  readonly neverUsedContainersMs: number;
  /**
   * Whether a member that is cut off from its quorum serves reads to clients that allow it; default
   * false. They see what this member had applied, which may be long out of date. It begins after
   * twice `peerTimeoutMs` and ends when a quorum is back, together with these connections and with
   * the sessions that this member has opened meanwhile. A member that was wiped or damaged, or that
   * was restarted and has no checkpoint yet, does not do this.
   */
  readonly readOnlyMode: boolean;
  /**
   * Whether clients get sessions that only their member knows; default false. It saves two writes
   * for each session. Such a session can be resumed only at its member, ends with that member's
   * process, and owns no ephemeral znodes: creating one is answered -120, as in a ZooKeeper that
   * may not upgrade sessions.
   */
  readonly localSessions: boolean;
  /**
   * Reserved for reconfiguration, which does not exist yet; default false. Requests to change the
   * list of members are answered -123, or -6 if this is true.
   */
  readonly reconfigEnabled: boolean;
  /**
   * The highest ensemble level to which this member lets the ensemble be raised; the default null
   * means no limit. While it holds the level down, all members can go back to the release before.
   * Without it, the level is raised as soon as every member runs the new release.
   */
  readonly holdLevel: number | null;
  /**
   * Where each member's `metricsPort` listens; default null: at the first address of the
   * server's `listen`, which is its `host` by default. A wildcard such as 0.0.0.0 is allowed.
   */
  readonly metricsHost: string | null;
  /**
   * Where each member's `adminPort` listens; default 127.0.0.1: only this machine can ask. Another
   * address than a loopback one needs `adminUsers`, `adminReaders` or `superDigest`, because paths,
   * sessions and addresses of clients are shown. There is no TLS: passwords cross the network
   * readable.
   */
  readonly adminHost: string;
  /**
   * Who may use the admin port: users with the hashes of their passwords, as `rookery config
   * hash-password USER` prints them, or in the former form `user:` and the base64 SHA-1, SHA-256 or
   * SHA-512 of `user:password`. Default none. While there are any, or `adminReaders` or
   * `superDigest`, each request must bring one of their passwords, except for a probe, which is
   * answered with yes or no without one, and the files of the console.
   */
  readonly adminUsers: readonly string[];
  /**
   * Users of the admin port who may only read, in the form of `adminUsers`; default none. They
   * change no data, session or counter, and get no backup.
   */
  readonly adminReaders: readonly string[];
  /**
   * Origins under which browsers reach the admin port through a proxy, such as
   * `https://rookery.example`; default none. Their names are accepted in the Host header, too. No
   * header of a proxy is believed.
   */
  readonly adminOrigins: readonly string[];
  /**
   * Whether the admin port is for reading only; default false. Then it refuses every change of
   * data, sessions or counters, to all users.
   */
  readonly adminReadOnly: boolean;
  /**
   * The directory for scheduled backups, absolute or relative to the config file; default null: no
   * member takes backups by itself. Each backup is taken by one member, by a follower where one
   * can, and into this directory on its machine: a directory on storage that all members share
   * keeps them together.
   */
  readonly backupDirectory: string | null;
  /**
   * The time between two scheduled backups, in minutes; default 1440, a day. They are due at
   * multiples of it since 1970 in UTC, so a daily one at midnight.
   */
  readonly backupEveryMinutes: number;
  /**
   * The number of backups, the newest ones, that stay in `backupDirectory`; default 14. Older ones
   * are removed after each scheduled backup, unless `backupDaysKept` keeps them.
   */
  readonly backupsKept: number;
  /**
   * For so many days, counted back from now, the newest backup of each day stays, too; default 0.
   */
  readonly backupDaysKept: number;
  /**
   * The file of the audit log, absolute or relative to the config file; default null: there is
   * none. Each member has a file of its own, with its id before the ending: `audit.jsonl` becomes
   * `audit-1.jsonl`. See [Audit](operations/security.md#audit).
   */
  readonly auditFile: string | null;
  /**
   * The size from which on the audit log continues in a new file, in bytes; default 67108864. The
   * former file gets the suffix `.1`, and older ones the next number.
   */
  readonly auditBytesMax: number;
  /** The number of former files of the audit log that are kept; default 10. */
  readonly auditFilesKept: number;
  /**
   * Whether nothing may happen without its line in the audit log; default false. Then a member does
   * not start if it cannot open `auditFile`, and ends as soon as a line is lost. Otherwise it
   * counts and logs lines that it cannot write.
   */
  readonly auditRequired: boolean;
  /**
   * The least severe log line that is written; default 'info'. 'debug' also reports connections
   * that the member drops because it does not serve, of troubles with another member each time that
   * they occur, and of messages that the replication core ignores.
   */
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
 * Reads and checks the file at `path` for the member `id`, which the file must list. Throws a
 * ConfigError with every problem found.
 */
export function loadConfig(path: string, id: PeerId): Config {
  const config = loadEnsembleConfig(path);
  const ids = config.servers.map((server) => server.id);
  if (!ids.includes(id)) {
    throw new ConfigError(path, [`servers: none has the id ${id} (the ids are ${ids.join(', ')})`]);
  }
  return config;
}

/** The same for a caller that starts all members and is none of them. */
export function loadEnsembleConfig(path: string): Config {
  const raw = readJson(path);
  const { settings, problems } = checkSettings(raw);
  if (settings === null) throw new ConfigError(path, problems);
  const folder = dirname(resolve(path));
  const dataDir = resolve(folder, settings.dataDir);
  return {
    ...settings,
    tls: resolvedTls(settings.tls, folder),
    peerAuth: resolvedPeerAuth(settings.peerAuth, (path) => resolve(folder, path)),
    sasl: resolvedSasl(settings.sasl, folder),
    dataDir,
    dataLogDir: settings.dataLogDir === null ? dataDir : resolve(folder, settings.dataLogDir),
    auditFile: settings.auditFile === null ? null : resolve(folder, settings.auditFile),
    backupDirectory:
      settings.backupDirectory === null ? null : resolve(folder, settings.backupDirectory),
  };
}

/** ZooKeeper's default. */
const CLIENTS_PER_ADDRESS = 60;

/** The number that holds for addresses that are not loopback ones; 0 for no limit. */
export function clientsPerAddressMax({ maxClientCnxns }: Config): number {
  return maxClientCnxns ?? CLIENTS_PER_ADDRESS;
}

/**
 * ZooKeeper's text of the members has a separate port for elections, and its parsers insist that it
 * differs from the others. Here one port serves both, so this returns one that is not open.
 */
export function electionPortOf({ peerPort, clientPort }: ServerAddress): number {
  const free = [peerPort + 1, peerPort + 2, peerPort - 1, peerPort - 2];
  return free.find((port) => port !== clientPort && port > 0 && port <= 65_535) ?? peerPort + 1;
}

/** Where member `id` keeps its tree and its log; no other member uses them. */
export function memberDirectories(config: Config, id: PeerId): { data: string; log: string } {
  return { data: join(config.dataDir, `${id}`), log: join(config.dataLogDir, `${id}`) };
}

function readJson(path: string): unknown {
  let text: string;
  try {
    text = readFileUpTo(path, SMALL_FILE_BYTES_MAX).toString();
  } catch (error) {
    throw new ConfigError(path, [`cannot be read: ${errorMessage(error)}`]);
  }
  try {
    return parseStrictJson(text);
  } catch (error) {
    if (error instanceof DuplicateKeysError) throw new ConfigError(path, error.problems);
    throw new ConfigError(path, [`is not JSON: ${errorMessage(error)}`]);
  }
}
