/**
 * `check`: whether all members of an ensemble are well and agree; says nothing if they do.
 *
 * Everything is asked on the client ports by four-letter words, of Rookery and of ZooKeeper alike;
 * what a server does not answer is left out. With a config file the HTTP ports of Rookery's members
 * are asked, too: clocks and readiness. Nothing is changed. Exit code 3: something is wrong.
 */
import { existsSync } from 'node:fs';
import { addressText, errorMessage } from '@rookery/protocol';
import {
  type Config,
  type FourLetterWord,
  loadEnsembleConfig,
  loadTlsFiles,
  OperatorError,
  type ServerAddress,
} from '@rookery/server';
import { type Call, EXIT } from '../../command/command.js';
import { serversFor } from '../../command/servers-for.js';
import { clockChecks, metricsDialHost } from '../../config/config-checks.js';
import { textUpTo } from '../../http/http.js';
import { codeOf } from '../../machine/error-code.js';
import { pause } from '../../machine/pause.js';
import { askWord } from '../../status/four-letter-word.js';
import {
  fullDiskIn,
  isFollowing,
  isLeading,
  isOfServer,
  isReadOnly,
  parseStatus,
  reasonOf,
  type ServerStatus,
  saysItLacksQuorum,
} from '../../status/server-status.js';
import {
  type Answers,
  backupFindings,
  certificateFindings,
  checkpointFindings,
  configurationFindings,
  damageFindings,
  digestFindings,
  digestsIn,
  diskFindings,
  type Finding,
  settingFindings,
  versionFindings,
} from './findings.js';

interface Server {
  readonly name: string;
  readonly host: string;
  readonly port: number;
}

interface Asked extends Server {
  readonly status: ServerStatus | null;
  readonly problem: string | null;
  /** Who answered, if anybody did. */
  readonly reached: keyof typeof REMEDIES;
}

/** What to do about a server that does not serve. */
const REMEDIES = {
  full: 'Give its disk room: it comes back by itself.',
  answers: 'It runs: the end of its log says what it waits for.',
  closes:
    'Look at the end of its log: it may have too many connections. If it does not run, something ' +
    'else listens on that port.',
  stranger: 'Something else listens on that port: compare the address with the configuration.',
  silent: 'Start it, or look at the end of its log.',
  unknown: 'Its name does not resolve on this machine: correct it, or look at the name server.',
} as const;
const TIMEOUT_MS = 2_000;
/** A member has a few checks with a line each; more than this is not read. */
const READINESS_CHARACTERS_MAX = 10_000;
const METRICS_CHARACTERS_MAX = 1_000_000;
/** How long members may take to apply what the leader had; one that keeps up takes far less. */
const CATCH_UP_MS = 3_000;
const AGAIN_MS = 100;
/** Codes of a look-up that found no address. */
const NAME_UNKNOWN: ReadonlySet<string> = new Set(['ENOTFOUND', 'EAI_AGAIN']);

export async function check(call: Call): Promise<number> {
  const { output, signal } = call;
  const config = call.text('config');
  const servers = serversFor(call).map(({ id, address, ...server }) => {
    return { ...server, name: id === null ? address : `member ${id}` };
  });
  const all = [
    ...(await membersFindings(servers, signal)),
    ...(config === undefined ? [] : await portFindings(config)),
  ];
  // A slow disk may show at both ports.
  const findings = [...new Map(all.map((finding) => [finding.what, finding])).values()];
  await output.list(findings, {
    json: (finding) => ({ ...finding }),
    text: ({ what, remedy }) => `${what}\n  ${remedy}`,
    raw: ({ what }) => what,
  });
  return findings.every(({ isWarning }) => isWarning) ? EXIT.done : EXIT.no;
}

async function membersFindings(
  servers: readonly Server[],
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const asked = await Promise.all(servers.map(look));
  const findings: Finding[] = asked
    .filter(({ status }) => status === null)
    .map(({ name, problem, reached }) => ({
      kind: 'no-service',
      what: `${name} does not serve: ${problem}.`,
      remedy: REMEDIES[reached],
    }));
  findings.push(...asked.filter(({ status }) => isReadOnly(status)).map(cutOff));
  findings.push(...asked.flatMap(fullDisk));
  const serving = asked.filter(({ status }) => status !== null && !isReadOnly(status));
  const leaders = serving.filter(({ status }) => isLeading(status));
  if (leaders.length === 0) return [...findings, noLeader(serving, asked.length)];
  if (leaders.length > 1) {
    const names = leaders.map(({ name }) => name).join(' and ');
    const remedy = 'Compare the lists of servers in their configurations.';
    findings.push({ kind: 'two-leaders', what: `${names} are not of one ensemble.`, remedy });
  }
  findings.push(...versionFindings(serving.map(versionOf)));
  findings.push(...(await lagFindings(serving, leaders[0], signal)));
  findings.push(...configurationFindings(await answers(serving, 'conf')));
  findings.push(...diskFindings(await answers(serving, 'mntr')));
  findings.push(...(await compareDigests(serving, signal)));
  return findings;
}

function cutOff({ name }: Asked): Finding {
  return {
    kind: 'read-only',
    what: `${name} serves only reads, because it is cut off from the quorum.`,
    remedy: 'Look at its log, and at the network between it and the other members.',
  };
}

function fullDisk({ name, status }: Asked): readonly Finding[] {
  const said = status?.fullDisk ?? null;
  if (said === null) return [];
  const remedy = 'Give its disk room.';
  return [{ kind: 'full-disk', what: `The disk of ${name} is ${said}.`, remedy }];
}

function noLeader(serving: readonly Asked[], askedCount: number): Finding {
  const follower = serving.find(({ status }) => isFollowing(status));
  if (follower === undefined) {
    const remedy = 'No write is taken until a majority runs and its members reach each other.';
    return { kind: 'no-quorum', what: 'There is no leader.', remedy };
  }
  return {
    kind: 'leader-unknown',
    what: `${follower.name} follows a leader that is not among the servers that answered.`,
    remedy:
      askedCount === serving.length
        ? 'Name all servers of the ensemble: nothing else can be compared without its leader.'
        : 'It may be one that does not answer. Nothing else can be compared without it.',
  };
}

function versionOf({ name, status }: Asked): Answers {
  return { name, text: status?.version ?? '' };
}

async function look(server: Server): Promise<Asked> {
  try {
    const text = await askWord(server, 'srvr', TIMEOUT_MS);
    const status = parseStatus(text);
    const problem = status === null ? reasonOf(text) : null;
    return { ...server, status, problem, reached: answererOf(text) };
  } catch (error) {
    const problem = errorMessage(error);
    const reached = NAME_UNKNOWN.has(codeOf(error)) ? 'unknown' : 'silent';
    return { ...server, status: null, problem, reached };
  }
}

function answererOf(text: string): Asked['reached'] {
  if (text.trim() === '') return 'closes';
  if (saysItLacksQuorum(text) && fullDiskIn(text) !== null) return 'full';
  return isOfServer(text) ? 'answers' : 'stranger';
}

/** Returns the answers of the servers that give one. */
async function answers(
  servers: readonly Server[],
  word: FourLetterWord,
): Promise<readonly Answers[]> {
  const texts = await Promise.all(
    servers.map(async (server) => {
      const text = await askWord(server, word, TIMEOUT_MS).catch(() => '');
      return { name: server.name, text };
    }),
  );
  return texts.filter(({ text }) => text !== '' && !text.includes('not in the whitelist'));
}

/** Whether each comes to where the leader was when it was asked. */
async function lagFindings(
  serving: readonly Asked[],
  leader: Asked | undefined,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const goal = BigInt(leader?.status?.zxid ?? 0);
  // Before the first write of its epoch, ZooKeeper's leader names a zxid that no other server has.
  if (BigInt.asUintN(32, goal) === 0n) return [];
  let behind = serving.filter(({ status }) => BigInt(status?.zxid ?? 0) < goal);
  const endMs = performance.now() + CATCH_UP_MS;
  while (behind.length > 0 && performance.now() < endMs && !signal.aborted) {
    await pause(AGAIN_MS, signal);
    const again = await Promise.all(behind.map(look));
    behind = again.filter(({ status }) => status !== null && BigInt(status.zxid) < goal);
  }
  return behind.map(({ name, status }) => ({
    kind: 'lag',
    what: `${name} is at zxid ${status?.zxid}, and does not come to 0x${goal.toString(16)}, where the leader was ${CATCH_UP_MS / 1000} s ago.`,
    remedy: 'Look at its disk, its processor and its network; restart it if it stays so.',
  }));
}

/** Digests can be compared where two members tell that of one zxid. */
async function compareDigests(
  serving: readonly Server[],
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const known = new Map<string, Map<string, string>>();
  const endMs = performance.now() + CATCH_UP_MS;
  for (;;) {
    const told = await answers(serving, 'hash');
    for (const { name, text } of told) {
      const all = known.get(name) ?? new Map<string, string>();
      for (const [zxid, digest] of digestsIn(text)) all.set(zxid, digest);
      known.set(name, all);
    }
    const findings = digestFindings(known);
    if (findings !== null) return findings;
    // While others write, it takes a few looks until all were asked at one zxid.
    if (performance.now() > endMs || signal.aborted) return [];
    await pause(AGAIN_MS, signal);
  }
}

/** Clocks and readiness, where members have a port for them. */
async function portFindings(file: string): Promise<readonly Finding[]> {
  const config = loadEnsembleConfig(file);
  const [clocks, scraped, ready] = await Promise.all([
    clockChecks(config.servers, config),
    scrapes(config),
    Promise.all(config.servers.map((server) => readiness(server, config))),
  ]);
  const apart = clocks.filter(({ verdict }) => verdict === 'FAIL');
  return [
    ...apart.map(({ text, isHere }) => ({
      kind: 'clock',
      what: `${text}.`,
      remedy: `Look at chrony or ntpd ${isHere ? 'on this machine' : 'there'}.`,
    })),
    ...ready.filter((finding) => finding !== null),
    ...diskFindings(scraped),
    ...settingFindings(scraped),
    ...certificateFindings(scraped, Date.now() / 1000),
    ...backupFindings(scraped),
    ...damageFindings(scraped),
    ...checkpointFindings(scraped),
    ...fileFindings(config),
  ];
}

async function scrapes(config: Config): Promise<readonly Answers[]> {
  const all = await Promise.all(
    config.servers.map(async (server) => {
      const text = await metricsOf(server, config);
      return text === null ? [] : [{ name: `member ${server.id}`, text }];
    }),
  );
  return all.flat();
}

/** Null where there is no port for it, or no answer: who serves was asked on the client port. */
async function metricsOf(server: ServerAddress, config: Config): Promise<string | null> {
  if (server.metricsPort === undefined) return null;
  const address = addressText(metricsDialHost(server, config), server.metricsPort);
  try {
    const response = await fetch(`http://${address}/metrics`, {
      signal: AbortSignal.timeout(TIMEOUT_MS),
      redirect: 'manual',
    });
    if (!response.ok || response.body === null) return null;
    return await textUpTo(response.body, METRICS_CHARACTERS_MAX);
  } catch {
    return null;
  }
}

/** Of the certificates on this machine, if it has them: a member would not start with them. */
function fileFindings({ tls, peerAuth }: Config): readonly Finding[] {
  const forMembers = typeof peerAuth === 'object' ? (peerAuth?.tls ?? null) : null;
  return [tls, forMembers].flatMap((files) => {
    const own = files?.certFile ?? files?.pkcs12File ?? null;
    if (files === null || own === null || !existsSync(own)) return [];
    try {
      loadTlsFiles(files);
      return [];
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      const remedy = 'Correct the files on this machine: a member does not start with them.';
      return [{ kind: 'certificate', what: error.message, remedy }];
    }
  });
}

async function readiness(server: ServerAddress, config: Config): Promise<Finding | null> {
  if (server.metricsPort === undefined) return null;
  const address = addressText(metricsDialHost(server, config), server.metricsPort);
  try {
    const response = await fetch(`http://${address}/readyz?verbose`, {
      signal: AbortSignal.timeout(TIMEOUT_MS),
      redirect: 'manual',
    });
    const { body } = response;
    const text = body === null ? '' : await textUpTo(body, READINESS_CHARACTERS_MAX);
    if (response.ok) return null;
    const failed = text.split('\n').filter((line) => line.startsWith('[-]'));
    // That it neither leads nor follows shows on its client port, and is a finding of its own.
    const others = failed.filter((line) => !line.startsWith('[-]leader'));
    if (failed.length > 0 && others.length === 0) return null;
    return {
      kind: 'not-ready',
      what: `member ${server.id} is not ready: ${others.join('; ') || `status ${response.status}`}.`,
      remedy: "The operator's guide explains each check; a full disk needs room.",
    };
  } catch {
    // Whether it serves was asked on its client port.
    return null;
  }
}
