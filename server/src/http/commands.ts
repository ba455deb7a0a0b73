/**
 * `/commands/*`: what ZooKeeper's admin server answers, under its names and aliases, with its keys.
 *
 * Each answer ends with `command`, the command's first name, and `error`, null or a sentence. As
 * there, a member that does not serve answers with status 200 and an error. Lists of sessions,
 * connections and watches are lazy. The router refuses unknown commands, and `snapshot` and
 * `restore`, which ZooKeeper 3.9 has.
 */
import {
  assert,
  counterOf,
  epochOf,
  type Int64,
  longAddressText,
  longHost,
} from '@rookery/protocol';
import { type Config, electionPortOf, type ServerAddress } from '../config/config.js';
import { DECIMAL_NAMES } from '../net/figures.js';
import type { ConnectionView, WordContext } from '../net/four-letter/context.js';
import { formatHex } from '../net/four-letter/format.js';
import { monitorLines } from '../net/four-letter/mntr.js';
import type { MemberView, SessionPaths } from '../net/member-view.js';
import { HttpError } from './http-port.js';
import { Decimal, type Json, Lines, PAUSE } from './json-text.js';

/**
 * What a command of the admin port may look at, and what it answers.
 */
interface CommandContext extends WordContext {
  readonly config: Config;
  readonly self: ServerAddress;
}

/** The fields of an answer. `command` is added to them, and so is `error` if it is missing. */
type Facts = Readonly<Record<string, Json>>;

interface Command {
  readonly aliases: readonly string[];
  /** It is refused while the member does not serve. */
  readonly needsServing: boolean;
  answer(context: CommandContext, query: URLSearchParams): Facts;
}

const NOT_SERVING = 'This ZooKeeper instance is not currently serving requests';

/** In alphabetical order, as `/commands` lists them. */
const COMMANDS: Readonly<Record<string, Command>> = {
  configuration: command(['conf', 'config'], configuration),
  connection_stat_reset: command(['crst'], resetConnections),
  connections: command(['cons'], (context) => connections(context)),
  dirs: command([], ({ view: { configuration: sizes } }) => ({
    datadir_size: sizes.dataDirBytes,
    logdir_size: sizes.dataLogBytes,
  })),
  dump: command([], (context) => ({
    expiry_time_to_session_ids: expiries(context),
    session_id_to_ephemeral_paths: ephemerals(context.view),
  })),
  environment: always(['env', 'envi'], ({ view }) => ({
    'zookeeper.version': view.version,
    ...Object.fromEntries(view.environment()),
  })),
  get_trace_mask: always(['gtmk'], ({ stats }) => ({ tracemask: stats.traceMask })),
  hash: command([], ({ view }) => ({
    digests: view.digests.map(({ zxid, digest }) => ({
      zxid,
      digest: BigInt(`0x${digest}`),
      digest_version: DIGEST_VERSION,
    })),
  })),
  initial_configuration: command(['icfg'], ({ config }) => ({
    initial_configuration: settingsText(config),
  })),
  is_read_only: command(['isro'], ({ view }) => ({ read_only: view.mode === 'read-only' })),
  last_snapshot: command(['lsnp'], ({ view: { details } }) => ({
    zxid: details.checkpoint.zxid.toString(16),
    timestamp: Math.floor(details.checkpoint.wallMs / 1000),
  })),
  leader: command(['lead'], leaderFacts),
  monitor: always(['mntr'], monitor),
  observer_connection_stat_reset: command(['orst'], () => ({})),
  observers: command(['obsr'], () => ({ synced_observers: 0, observers: [] })),
  ruok: command([], () => ({})),
  server_stats: command(['srvr'], serverStats),
  set_trace_mask: always(['stmk'], setTraceMask),
  stat_reset: command(['srst'], ({ stats }) => {
    stats.reset();
    return {};
  }),
  stats: command(['stat'], (context) => ({
    ...serverStats(context),
    ...briefConnections(context),
  })),
  system_properties: always(['sysp'], () => ({})),
  voting_view: command([], votingView),
  watch_summary: command(['wchs'], ({ view: { watches } }) => ({
    num_connections: watches.connections,
    num_paths: watches.paths,
    num_total_watches: watches.watches,
  })),
  watches: command(['wchc'], ({ view }) => ({
    session_id_to_watched_paths: watchingSessionsOf(view),
  })),
  watches_by_path: command(['wchp'], ({ view }) => ({ path_to_session_ids: watchedPathsOf(view) })),
  zabstate: always([], zabState),
};

/** No version of ZooKeeper's digests, because Rookery computes its digest in its own way. */
const DIGEST_VERSION = 0;

const NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries(COMMANDS).flatMap(([name, { aliases }]) =>
    [name, ...aliases].map((alias) => [alias, name] as const),
  ),
);

export const COMMAND_NAMES: readonly string[] = Object.keys(COMMANDS);

/** The commands that change something: counters, or the trace mask. */
export const CHANGING: ReadonlySet<string> = new Set([
  ...['connection_stat_reset', 'observer_connection_stat_reset', 'set_trace_mask', 'stat_reset'],
]);

/** The first name of the command with this name or alias; null if there is none. */
export function commandNamed(name: string): string | null {
  return NAMES.get(name) ?? null;
}

/**
 * The answer to the command with this first name, of which the caller knows that there is one.
 * Throws HttpError for a wrong argument.
 */
export function commandAnswer(
  name: string,
  context: CommandContext,
  query: URLSearchParams,
): Lines {
  const known = COMMANDS[name];
  assert(known !== undefined, `there is the command ${name}`);
  if (known.needsServing && !context.view.serving) return errorAnswer(name, NOT_SERVING);
  return answerOf(name, known.answer(context, query));
}

/** The answer of a command that is not done, in the form of the others. */
export function errorAnswer(asked: string, error: string): Lines {
  return answerOf(asked, { error });
}

function answerOf(name: string, facts: Facts): Lines {
  const error = 'error' in facts ? [] : [['error', null] as const];
  return new Lines([...Object.entries(facts), ['command', name], ...error]);
}

function command(aliases: readonly string[], answer: Command['answer']): Command {
  return { aliases, needsServing: true, answer };
}

function always(aliases: readonly string[], answer: Command['answer']): Command {
  return { aliases, needsServing: false, answer };
}

function configuration({ view: { configuration: own } }: CommandContext): Facts {
  return {
    client_port: own.clientPort,
    data_dir: own.dataDir,
    data_log_dir: own.dataLogDir,
    tick_time: own.tickTimeMs,
    max_client_cnxns: own.maxClientCnxns,
    min_session_timeout: own.minSessionTimeoutMs,
    max_session_timeout: own.maxSessionTimeoutMs,
    server_id: own.serverId,
    client_port_listen_backlog: -1,
  };
}

function resetConnections(context: CommandContext): Facts {
  for (const { stats } of context.connections()) stats.reset();
  return {};
}

function monitor(context: CommandContext): Facts {
  const lines = monitorLines(context).map(([name, value]): [string, Json] => {
    const isDecimal = DECIMAL_NAMES.has(name) || name.startsWith('avg_');
    return [name, isDecimal ? new Decimal(Number(value)) : value];
  });
  return Object.fromEntries(lines);
}

function setTraceMask({ stats }: CommandContext, query: URLSearchParams): Facts {
  const text = query.get('traceMask') ?? '';
  const mask = /^-?\d{1,19}$/.test(text) ? BigInt(text) : null;
  if (mask === null || mask !== BigInt.asIntN(64, mask)) {
    throw new HttpError(400, 'traceMask: expected a whole number of 64 bits.');
  }
  stats.traceMask = mask;
  return { tracemask: stats.traceMask };
}

/** All other settings are hidden: one that is added later may be a secret. */
const SHOWN = [
  ...['dataDir', 'dataLogDir', 'tickTimeMs', 'servers', 'initLimit', 'syncLimit'],
  ...['peerHeartbeatMs', 'peerTimeoutMs', 'minSessionTimeoutMs', 'maxSessionTimeoutMs'],
  ...['maxClientCnxns', 'connectionTokensMax', 'connectionTokensPerSecond'],
  ...['globalOutstandingLimit', 'frameBytesMax', 'inputBytesMax', 'outputBytesMax'],
  ...['fourLetterWords', 'extendedTypes', 'skipACL', 'enforceQuota', 'treeBytesMax'],
  ...['diskReserveBytes', 'ephemeralsPerSessionMax', 'multiOpsMax', 'pathDepthMax'],
  'neverUsedContainersMs',
  ...['readOnlyMode', 'localSessions', 'reconfigEnabled', 'holdLevel', 'metricsHost'],
  ...['adminHost', 'adminReadOnly', 'logLevel'],
] as const;
const SHOWN_OF_SERVERS: ReadonlySet<string> = new Set([
  ...['id', 'host', 'clientPort', 'peerPort', 'listen', 'peerListen', 'clientHost'],
  ...['metricsPort', 'adminPort'],
]);

/**
 * What the admin port tells of the ensemble: the leader, the members, this member's state, and the
 * settings it was started with.
 */
function leaderFacts({ view, config, self }: CommandContext): Facts {
  if (config.servers.length === 1) return { error: 'server is not initialized' };
  const { leaderId } = view.details;
  const leader = config.servers.find(({ id }) => id === leaderId);
  return {
    is_leader: leaderId === self.id,
    leader_id: leaderId,
    leader_ip: longHost(leader?.host ?? ''),
  };
}

function votingView({ config }: CommandContext): Facts {
  if (config.servers.length === 1) return { current_config: {} };
  const members = config.servers.map((server): readonly [string, Json] => [
    String(server.id),
    {
      server_addresses: [longAddressText(server.host, server.peerPort)],
      election_addresses: [longAddressText(server.host, electionPortOf(server))],
      client_address: longAddressText(server.clientHost ?? server.host, server.clientPort),
      learner_type: 'participant',
    },
  ]);
  return { current_config: new Lines(members) };
}

function zabState({ view, config, self }: CommandContext): Facts {
  if (config.servers.length === 1) return { voting: false, zabstate: '' };
  const { role } = view.health;
  return {
    myid: self.id,
    is_leader: role === 'leading',
    quorum_address: addressFacts(self, self.peerPort),
    election_address: addressFacts(self, electionPortOf(self)),
    client_address: longAddressText(self.clientHost ?? self.host, self.clientPort),
    voting: true,
    last_zxid: `0x${formatHex(view.lastZxid)}`,
    zab_epoch: epochOf(view.lastZxid),
    zab_counter: counterOf(view.lastZxid),
    zabstate: role === 'looking' ? 'election' : 'broadcast',
  };
}

/** ZooKeeper's members may have several addresses, and this is how it writes down their set. */
function addressFacts({ host }: ServerAddress, port: number): Json {
  const address = longAddressText(host, port);
  return {
    empty: false,
    all_addresses: [address],
    all_reachable_addresses: [address],
    one: address,
    reachable_address: address,
    wildcard_addresses: [`0.0.0.0:${port}`],
    all_ports: [port],
    all_host_strings: [longHost(host)],
    all_reachable_addresses_or_all: [address],
    reachable_or_one: address,
  };
}

/** A line for each setting that may be shown. */
export function settingsText(config: Config): string {
  const shown: ReadonlySet<string> = new Set(SHOWN);
  return Object.entries(config)
    .filter(([name]) => shown.has(name))
    .map(([name, value]) => `${name}=${settingText(value)}\n`)
    .join('');
}

function settingText(value: unknown): string {
  if (typeof value === 'string') return value;
  return JSON.stringify(value, (key, inner: unknown) => {
    const isMember = /^[a-z]/i.test(key);
    return isMember && !SHOWN_OF_SERVERS.has(key) ? undefined : inner;
  });
}

/** Only where the leases are kept: nothing at a follower, as at ZooKeeper's. */
export function expiries(context: WordContext): Lines {
  return new Lines(expirySets(context));
}

/** They are listed by time, so all are gathered first, over as many turns as it takes. */
function* expirySets({ view, wallMs }: WordContext) {
  const intervalMs = view.configuration.tickTimeMs;
  const sets = new Map<number, Int64[]>();
  for (const { id, inMs } of view.sessions.expiries ?? []) {
    const at = Math.ceil((wallMs + inMs) / intervalMs) * intervalMs;
    const set = sets.get(at);
    if (set === undefined) sets.set(at, [id]);
    else set.push(id);
    yield PAUSE;
  }
  for (const [at, ids] of [...sets].sort(([a], [b]) => a - b)) yield [String(at), ids] as const;
}

/**
 * Sessions, their ephemerals and their watches as the admin port's commands list them: ids are
 * keys in decimal, values are numbers. All lazy.
 */
function ephemerals(view: MemberView): Lines {
  return new Lines(pathsBySession(view.ephemerals()));
}

function watchingSessionsOf(view: MemberView): Lines {
  return new Lines(pathsBySession(view.watchingSessions()));
}

export function watchedPathsOf(view: MemberView): Lines {
  return new Lines(sessionsByPath(view));
}

function* pathsBySession(all: Iterable<SessionPaths | null>) {
  for (const one of all) {
    yield one === null ? PAUSE : ([String(one.session), present(one.paths)] as const);
  }
}

function* sessionsByPath(view: MemberView) {
  for (const one of view.watchedPaths()) {
    yield one === null ? PAUSE : ([one.path, present(one.sessions)] as const);
  }
}

function* present<T extends Json>(all: Iterable<T | null>): Generator<T | typeof PAUSE> {
  for (const one of all) yield one ?? PAUSE;
}

/**
 * The clients of a member as `/commands/connections` and `/commands/stats` list them: those without
 * and those with TLS.
 */
function connections(context: WordContext): Readonly<Record<string, Json>> {
  return listsOf(context, wholeFacts);
}

function briefConnections(context: WordContext): Readonly<Record<string, Json>> {
  return listsOf(context, briefFacts);
}

function listsOf(context: WordContext, factsOf: (connection: ConnectionView) => Json) {
  function* list(isSecured: boolean): Generator<Json> {
    for (const one of context.connections()) if (one.isSecured === isSecured) yield factsOf(one);
  }
  return { connections: list(false), secure_connections: list(true) };
}

function briefFacts(connection: ConnectionView) {
  const { remoteAddress, remotePort, interestOps, stats } = connection;
  return {
    remote_socket_address: longAddressText(remoteAddress, remotePort),
    interest_ops: interestOps,
    outstanding_requests: stats.outstanding,
    packets_received: stats.received,
    packets_sent: stats.sent,
  };
}

function wholeFacts(connection: ConnectionView): Json {
  const { stats } = connection;
  return {
    ...briefFacts(connection),
    session_id: stats.sessionId,
    last_operation: stats.lastOperation,
    established: Math.floor(stats.establishedWallMs),
    session_timeout: stats.sessionTimeoutMs,
    last_cxid: stats.lastXid,
    last_zxid: stats.lastZxid,
    last_response_time: Math.floor(stats.lastResponseMs),
    last_latency: Math.floor(stats.lastLatencyMs),
    min_latency: Math.floor(stats.latency.minMs),
    avg_latency: Math.floor(stats.latency.averageMs),
    max_latency: Math.floor(stats.latency.maxMs),
  };
}

function decimal(value: number): Decimal {
  return new Decimal(Math.round(value * 10_000) / 10_000);
}

/**
 * `/commands/server_stats`: the summary of a member.
 */
function serverStats(context: WordContext): Readonly<Record<string, Json>> {
  const { view, stats, connectionCount } = context;
  const { configuration, leader } = view;
  const responses = bufferSizes(stats.responseSizes);
  return {
    version: view.version,
    read_only: view.mode === 'read-only',
    server_stats: {
      packets_sent: stats.packetsSent,
      packets_received: stats.packetsReceived,
      fsync_threshold_exceed_count: view.details.counters.slowSyncs,
      client_response_stats: responses,
      data_dir_size: configuration.dataDirBytes,
      log_dir_size: configuration.dataLogBytes,
      provider_null: false,
      server_state: view.mode,
      last_processed_zxid: view.lastZxid,
      outstanding_requests: view.outstandingRequests,
      avg_latency: decimal(stats.latency.averageMs),
      max_latency: Math.floor(stats.latency.maxMs),
      min_latency: Math.floor(stats.latency.minMs),
      num_alive_client_connections: connectionCount,
      uptime: Math.floor(view.uptimeMs),
      auth_failed_count: figureOf(context, 'auth_failed_count'),
      // ZooKeeper counts these with Netty only, so by default they are 0 there, too.
      non_mtlsremote_conn_count: 0,
      non_mtlslocal_conn_count: 0,
    },
    client_response: responses,
    ...(leader === null ? {} : { proposal_stats: sizesOf(leader.proposalSizes) }),
    node_count: view.nodeCount,
  };
}

interface Sizes {
  readonly last: number;
  readonly min: number;
  readonly max: number;
}

function bufferSizes({ count, last, min, max }: Sizes & { readonly count: number }): Json {
  return sizesOf(count === 0 ? { last: -1, min: -1, max: -1 } : { last, min, max });
}

function sizesOf({ last, min, max }: Sizes): Json {
  return { last_buffer_size: last, min_buffer_size: min, max_buffer_size: max };
}

function figureOf({ view }: WordContext, name: string): number {
  return view.extraMetrics.find((metric) => metric.name === name)?.value ?? 0;
}
