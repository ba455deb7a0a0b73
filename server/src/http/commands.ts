/**
 * `/commands/*`: what ZooKeeper's admin server answers, under its names and aliases, with its keys.
 *
 * Each answer ends with `command`, the command's first name, and `error`, null or a sentence. As
 * there, a member that does not serve answers with status 200 and an error. Lists of sessions,
 * connections and watches are lazy. The router refuses unknown commands, and `snapshot` and
 * `restore`, which ZooKeeper 3.9 has.
 */
import { assert } from '@rookery/protocol';
import { DECIMAL_NAMES } from '../net/figures.js';
import { monitorLines } from '../net/four-letter/mntr.js';
import type { CommandContext, Facts } from './command-context.js';
import { briefConnections, connections } from './connection-facts.js';
import { HttpError } from './http-error.js';
import { Decimal, type Json, Lines } from './json-text.js';
import { serverStats } from './server-facts.js';
import { ephemerals, expiries, watchedPathsOf, watchingSessionsOf } from './session-facts.js';
import { leaderFacts, settingsText, votingView, zabState } from './zab-facts.js';

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
