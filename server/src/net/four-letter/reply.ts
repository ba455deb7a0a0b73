/**
 * The reply to a four-letter word, piece by piece, and the text of most words.
 *
 * A short reply is one piece. A listing has about one piece per line, and an empty piece for each
 * element that took time and adds no text: pieces are taken up to 128 at a time, and the clock is
 * read only in between (word-service.ts). Nothing is read or changed before the first piece is
 * taken. A word that is not whitelisted is refused; most other words are refused while the member
 * does not serve. `server/src/config/four-letter-words.ts` says what a new word needs. The test
 * beside this file compares replies to ZooKeeper's words with those that were recorded from it. The
 * word service calls it.
 */

import os from 'node:os';
import v8 from 'node:v8';
import { longAddressText, unreachable } from '@rookery/protocol';
import {
  type FourLetterWord,
  isListing,
  type Listing,
  needsServing,
} from '../../config/four-letter-words.js';
import type { MemberView, SessionExpiry, SessionsView } from '../member-view.js';
import type { ConnectionView, WordContext } from './context.js';
import { formatDate, formatDecimal, formatHex } from './format.js';
import { monitorReply } from './mntr.js';
import type { FourLetterWhitelist } from './words.js';

export interface AskedWord {
  readonly word: FourLetterWord;
  /** The bytes that follow the word and belong to it: of stmk the new mask, of all others none. */
  readonly argument: Uint8Array;
}

const NOT_SERVING = 'This ZooKeeper instance is not currently serving requests';

export function* replyToWord(
  asked: AskedWord,
  whitelist: FourLetterWhitelist,
  context: WordContext,
): Generator<string> {
  const { word } = asked;
  if (!whitelist.allows(word)) {
    yield `${word} is not executed because it is not in the whitelist.\n`;
  } else if (!context.view.serving && needsServing(word)) {
    yield notServing(word, context);
  } else if (isListing(word)) {
    yield* listing(word, context);
  } else {
    yield shortReply({ word, argument: asked.argument }, context);
  }
}

/** ZooKeeper has no more lines, and omits the newline where it is not added here. */
function notServing(word: FourLetterWord, { view }: WordContext): string {
  const { waitsFor, sparedBy } = view.health;
  if (word === 'hash') return NOT_SERVING;
  if (word !== 'srvr' && word !== 'stat') return `${NOT_SERVING}\n`;
  // The line about the disk says what a member waits for whose disk is full.
  const waits = waitsFor === null || sparedBy !== 0 ? [] : [`Waits: ${waitsFor}`];
  return `${[NOT_SERVING, ...waits, ...diskLines(view)].join('\n')}\n`;
}

function listing(word: Listing, context: WordContext): Iterable<string> {
  const { view } = context;
  switch (word) {
    case 'cons':
      return connectionsReply(context.connections());
    case 'crst':
      return resetConnections(context);
    case 'dump':
      return dumpReply(context);
    case 'stat':
      return statusReply(context);
    case 'wchc':
      return watchesBySessionReply(view);
    case 'wchp':
      return watchesByPathReply(view);
    default:
      return unreachable(word);
  }
}

interface AskedShortWord {
  readonly word: Exclude<FourLetterWord, Listing>;
  readonly argument: Uint8Array;
}

function shortReply({ word, argument }: AskedShortWord, context: WordContext): string {
  const { view } = context;
  switch (word) {
    case 'conf':
      return configurationReply(view);
    case 'dirs':
      return directoriesReply(context);
    case 'envi':
      return environmentReply(view);
    case 'gtmk':
      return `${context.stats.traceMask}`;
    case 'hash':
      return view.digests.map(({ zxid, digest }) => `${formatHex(zxid)}: ${digest}\n`).join('');
    case 'isro':
      if (!view.serving) return 'null';
      return view.mode === 'read-only' ? 'ro' : 'rw';
    case 'mntr':
      return monitorReply(context);
    case 'ruok':
      return 'imok';
    case 'srst':
      context.stats.reset();
      return 'Server stats reset.\n';
    case 'srvr':
      return serverReply(context);
    case 'stmk':
      return `${setTraceMask(context, argument)}`;
    case 'wchs':
      return watchSummaryReply(view);
    default:
      return unreachable(word);
  }
}

function* resetConnections(context: WordContext): Generator<string> {
  for (const { stats } of context.connections()) {
    stats.reset();
    yield '';
  }
  yield 'Connection stats reset.\n';
}

function directoriesReply({ view }: WordContext): string {
  const { dataDirBytes, dataLogBytes } = view.configuration;
  return `datadir_size: ${dataDirBytes}\nlogdir_size: ${dataLogBytes}\n`;
}

/** The mask is stored and shown, without effect, because there is nothing to trace here. */
function setTraceMask({ stats }: WordContext, argument: Uint8Array): bigint {
  const { buffer, byteOffset, byteLength } = argument;
  stats.traceMask = new DataView(buffer, byteOffset, byteLength).getBigInt64(0);
  return stats.traceMask;
}

/** ZooKeeper's number for its fast leader election, which scripts expect. */
const ELECTION_ALGORITHM = 3;

function configurationReply({ configuration, quorum }: MemberView): string {
  const facts: (readonly [string, string | number])[] = [
    ['clientPort', configuration.clientPort],
    ['secureClientPort', configuration.secureClientPort ?? -1],
    ['dataDir', configuration.dataDir],
    ['dataDirSize', configuration.dataDirBytes],
    ['dataLogDir', configuration.dataLogDir],
    ['dataLogSize', configuration.dataLogBytes],
    ['tickTime', configuration.tickTimeMs],
    ['maxClientCnxns', configuration.maxClientCnxns],
    ['minSessionTimeout', configuration.minSessionTimeoutMs],
    ['maxSessionTimeout', configuration.maxSessionTimeoutMs],
    ['clientPortListenBacklog', -1],
    ['serverId', configuration.serverId],
  ];
  if (quorum !== null) {
    facts.push(
      ['initLimit', quorum.initLimitTicks],
      ['syncLimit', quorum.syncLimitTicks],
      ['electionAlg', ELECTION_ALGORITHM],
      // Elections use quorumPort, too. Parsers want another number; that port is not open.
      ['electionPort', quorum.electionPort],
      ['quorumPort', quorum.peerPort],
      ['peerType', quorum.participant ? 0 : 1],
    );
  }
  const lines = facts.map(([name, value]) => `${name}=${value}\n`).join('');
  return quorum === null ? lines : `${lines}membership: \n${quorum.membership}\n`;
}

function* connectionsReply(connections: Iterable<ConnectionView>): Generator<string> {
  for (const connection of connections) yield detailLine(connection);
  yield '\n';
}

function detailLine({ remoteAddress, remotePort, interestOps, stats }: ConnectionView): string {
  const facts = [`queued=${stats.outstanding}`, `recved=${stats.received}`, `sent=${stats.sent}`];
  if (stats.sessionId !== 0) {
    facts.push(
      `sid=0x${formatHex(stats.sessionId)}`,
      `lop=${stats.lastOperation}`,
      `est=${Math.floor(stats.establishedWallMs)}`,
      `to=${stats.sessionTimeoutMs}`,
      `lcxid=0x${formatHex(stats.lastXid)}`,
      `lzxid=0x${formatHex(stats.lastZxid)}`,
      `lresp=${Math.floor(stats.lastResponseMs)}`,
      `llat=${Math.floor(stats.lastLatencyMs)}`,
      `minlat=${Math.floor(stats.latency.minMs)}`,
      `avglat=${Math.floor(stats.latency.averageMs)}`,
      `maxlat=${Math.floor(stats.latency.maxMs)}`,
    );
  }
  return ` /${longAddressText(remoteAddress, remotePort)}[${interestOps}](${facts.join(',')})\n`;
}

function environmentReply(view: MemberView): string {
  const facts = [['zookeeper.version', view.version], ...view.environment()];
  return `Environment:\n${facts.map(([name, value]) => `${name}=${value}\n`).join('')}`;
}

/**
 * The facts about this process; names that scripts know are used where Node has a corresponding
 * fact.
 */
export function readEnvironment(): readonly (readonly [name: string, value: string])[] {
  const heap = v8.getHeapStatistics();
  const user = userFacts();
  return [
    ['host.name', os.hostname()],
    ['node.version', process.version],
    ['java.version', '<NA>'],
    ['os.name', os.type()],
    ['os.arch', os.arch()],
    ['os.version', os.release()],
    ['user.name', user.name],
    ['user.home', user.home],
    ['user.dir', process.cwd()],
    ['os.memory.free', mebibytes(heap.heap_size_limit - heap.used_heap_size)],
    ['os.memory.max', mebibytes(heap.heap_size_limit)],
    ['os.memory.total', mebibytes(heap.total_heap_size)],
  ];
}

function mebibytes(bytes: number): string {
  return `${Math.floor(bytes / (1 << 20))}MB`;
}

/** A container may run under a user id that has no entry. */
function userFacts(): { readonly name: string; readonly home: string } {
  try {
    const { username, homedir } = os.userInfo();
    return { name: username, home: homedir };
  } catch {
    return { name: '<NA>', home: '<NA>' };
  }
}

function serverReply(context: WordContext): string {
  return versionLine(context) + summary(context);
}

function* statusReply(context: WordContext): Generator<string> {
  yield `${versionLine(context)}Clients:\n`;
  for (const connection of context.connections()) yield clientLine(connection);
  yield `\n${summary(context)}`;
}

function versionLine({ view }: WordContext): string {
  const readOnly =
    view.mode === 'read-only' ? 'READ-ONLY mode; serving only read-only clients\n' : '';
  return `Zookeeper version: ${view.version}\n${readOnly}`;
}

function clientLine({ remoteAddress, remotePort, interestOps, stats }: ConnectionView): string {
  const counts = `queued=${stats.outstanding},recved=${stats.received},sent=${stats.sent}`;
  return ` /${longAddressText(remoteAddress, remotePort)}[${interestOps}](${counts})\n`;
}

function summary({ view, stats, connectionCount }: WordContext): string {
  const { minMs, averageMs, maxMs } = stats.latency;
  const lines = [
    `Latency min/avg/max: ${whole(minMs)}/${formatDecimal(averageMs)}/${whole(maxMs)}`,
    `Received: ${stats.packetsReceived}`,
    `Sent: ${stats.packetsSent}`,
    `Connections: ${connectionCount}`,
    `Outstanding: ${view.outstandingRequests}`,
    `Zxid: 0x${formatHex(view.lastZxid)}`,
    `Mode: ${view.mode}`,
    ...diskLines(view),
    `Node count: ${view.nodeCount}`,
  ];
  if (view.leader !== null) {
    const { last, min, max } = view.leader.proposalSizes;
    lines.push(`Proposal sizes last/min/max: ${last}/${min}/${max}`);
  }
  return `${lines.join('\n')}\n`;
}

/** No line unless the disk is full. */
function diskLines({ health }: MemberView): readonly string[] {
  const { diskShortage, sparedBy } = health;
  if (diskShortage === null) return [];
  const { freeBytes, reserveBytes } = diskShortage;
  const sizes = `${megabytes(freeBytes)} MB free, the reserve is ${megabytes(reserveBytes)} MB`;
  const then = sparedBy === 0 ? '' : `; leader ${sparedBy} goes on without this member`;
  return [`Disk: full, ${sizes}${then}`];
}

function megabytes(bytes: number): number {
  return Math.floor(bytes / 1e6);
}

function whole(ms: number): number {
  return Math.floor(ms);
}

function watchSummaryReply(view: MemberView): string {
  const { connections, paths, watches } = view.watches;
  return `${connections} connections watching ${paths} paths\nTotal watches:${watches}\n`;
}

function* watchesBySessionReply(view: MemberView): Generator<string> {
  for (const one of view.watchingSessions()) {
    yield one === null ? '' : `0x${formatHex(one.session)}\n`;
    for (const path of one?.paths ?? []) yield path === null ? '' : `\t${path}\n`;
  }
  yield '\n';
}

function* watchesByPathReply(view: MemberView): Generator<string> {
  for (const one of view.watchedPaths()) {
    let title = one === null ? '' : `${one.path}\n`;
    for (const session of one?.sessions ?? []) {
      if (session === null) {
        yield '';
        continue;
      }
      yield `${title}\t0x${formatHex(session)}\n`;
      title = '';
    }
    // A path has no line if nobody watches it any more, because watches of ended sessions stay in
    // the table for a while (state/watched-paths.ts), or if it was listed before. The time that it
    // took counts all the same.
    if (title !== '' || one === null) yield '';
  }
  yield '\n';
}

/** The interval at which ZooKeeper examines its connections for expiry. */
const CONNECTION_INTERVAL_MS = 10_000;

function* dumpReply(context: WordContext): Generator<string> {
  yield 'SessionTracker dump:\n';
  yield* sessionLines(context, context.view.sessions);
  yield* ephemeralLines(context);
  yield 'Connections dump:\n';
  yield* expirySets('Connections Sets', context.connections(), {
    intervalMs: CONNECTION_INTERVAL_MS,
    wallMsOf: ({ expiresWallMs }) => expiresWallMs,
    keptOf: (connection) => connection,
    lineOf: expiryLine,
  });
}

function* sessionLines(context: WordContext, sessions: SessionsView): Generator<string> {
  const { local, expiries } = sessions;
  if (local !== null) {
    yield 'Local ';
    yield* sessionSets(context, local);
    if (expiries !== null) yield 'Global ';
  }
  if (expiries !== null) {
    yield* sessionSets(context, expiries);
    return;
  }
  yield `Global Sessions(${context.view.globalSessions}):\n`;
  for (const { id, timeoutMs } of sessions.all) yield `0x${formatHex(id)}\t${timeoutMs}ms\n`;
}

function sessionSets(
  { view, wallMs }: WordContext,
  expiries: Iterable<SessionExpiry>,
): Generator<string> {
  return expirySets('Session Sets', expiries, {
    intervalMs: view.configuration.tickTimeMs,
    wallMsOf: ({ inMs }) => wallMs + inMs,
    keptOf: ({ id }) => id,
    lineOf: (id) => `\t0x${formatHex(id)}\n`,
  });
}

function* ephemeralLines({ view }: WordContext): Generator<string> {
  yield `ephemeral nodes dump:\nSessions with Ephemerals (${view.ephemeralOwners}):\n`;
  for (const { session, paths } of view.ephemerals()) {
    yield `0x${formatHex(session)}:\n`;
    for (const path of paths) yield path === null ? '' : `\t${path}\n`;
  }
}

function expiryLine({ remoteAddress, remotePort, stats }: ConnectionView): string {
  const session = formatHex(stats.sessionId);
  return `\tip: /${longAddressText(remoteAddress, remotePort)} sessionId: 0x${session}\n`;
}

interface SetsOf<T, Kept> {
  readonly intervalMs: number;
  readonly wallMsOf: (one: T) => number;
  /** The fields that its line needs. */
  readonly keptOf: (one: T) => Kept;
  readonly lineOf: (kept: Kept) => string;
}

/** Times are rounded up to the interval, like the sets of ZooKeeper's expiry queue. */
function* expirySets<T, Kept>(
  title: string,
  all: Iterable<T>,
  { intervalMs, wallMsOf, keptOf, lineOf }: SetsOf<T, Kept>,
): Generator<string> {
  const sets = new Map<number, Kept[]>();
  let count = 0;
  for (const one of all) {
    const at = Math.ceil(wallMsOf(one) / intervalMs) * intervalMs;
    const set = sets.get(at);
    if (set === undefined) sets.set(at, [keptOf(one)]);
    else set.push(keptOf(one));
    count += 1;
    yield '';
  }
  yield `${title} (${sets.size})/(${count}):\n`;
  for (const [at, set] of [...sets].sort(([a], [b]) => a - b)) {
    yield `${set.length} expire at ${formatDate(at)}:\n`;
    for (const kept of set) yield lineOf(kept);
  }
}
