/**
 * `top`: how each member of an ensemble does, and which paths and clients are the hottest, now and
 * again.
 *
 * Members of Rookery and of ZooKeeper are asked `srvr` and `mntr` on their client ports, all at the
 * same time; one that does not answer keeps its row, which says why. No session is opened. Paths
 * and clients are told by the admin port of a member of Rookery, which also tells the addresses of
 * the members where no others are given.
 */
import { OperatorError } from '@rookery/server';
import type { NamedAddress } from '../command/addresses.js';
import { AdminPort } from '../command/admin-port.js';
import { type Call, EXIT } from '../command/command.js';
import { serversFor } from '../command/servers-for.js';
import { messageOf } from '../machine/error-code.js';
import { pause } from '../machine/pause.js';
import { askWord } from '../status/four-letter-word.js';
import { reasonOf } from '../status/server-status.js';
import { type Column, type Order, sorted } from './columns.js';
import { COLUMNS, PAGES, type Page, rowJson } from './frame.js';
import { lookHot, NEEDS_URL } from './hot.js';
import { CLIENT_COLUMNS, clientJson, type HotLook, PATH_COLUMNS, pathJson } from './hot-frame.js';
import { type Asked, type Row, rowsOf } from './rows.js';
import { parseSample } from './sample.js';

const INTERVAL_S_DEFAULT = 2;
const TIMEOUT_MS_MAX = 2_000;

/** Resolves with the exit code; 4 if no member serves with `--once`. */
export async function top(call: Call): Promise<number> {
  const page = pageOf(call.text('page'));
  const order = { column: columnOf(call.text('sort'), page), isReversed: false };
  const url = call.text('url');
  const port = url === undefined ? null : new AdminPort(url, call.around.environment);
  if (call.flag('once')) return await printOnce(call, { page, order, port });
  if (call.around.isShell || !call.output.isTerminal || !process.stdin.isTTY) {
    throw new OperatorError('The live view needs a terminal: use top --once here.');
  }
  const members = await memberLooks(call, port);
  const hot = async (signal: AbortSignal): Promise<HotLook> => {
    if (port === null) return { problem: NEEDS_URL };
    return await lookHot(port, signal).catch((error: unknown) => ({ problem: messageOf(error) }));
  };
  // React's checks for developers cost memory with every frame.
  process.env['NODE_ENV'] ??= 'production';
  const { showLive } = await import('./live.js');
  const { signal } = call;
  const intervalS = intervalOf(call);
  await showLive({ intervalS, page, order, members: () => members.look(), hot, signal });
  return EXIT.done;
}

interface Wanted {
  readonly page: Page;
  readonly order: Order;
  readonly port: AdminPort | null;
}

async function printOnce(call: Call, { page, order, port }: Wanted): Promise<number> {
  const { output, signal } = call;
  if (page === 'members') {
    const members = await memberLooks(call, port);
    await members.look();
    await pause(1000 * intervalOf(call), signal);
    const rows = sorted(await members.look(), COLUMNS, order);
    await output.table(rows, {
      head: [...headsOf(COLUMNS), ''],
      json: rowJson,
      cells: (row) => [...COLUMNS.map(({ text }) => text(row)), row.problem ?? ''],
    });
    return rows.some(({ role }) => role !== null) ? EXIT.done : EXIT.disconnected;
  }
  if (port === null) throw new OperatorError(NEEDS_URL);
  const { paths, clients } = await lookHot(port, signal);
  if (page === 'paths') {
    await output.table(sorted(paths, PATH_COLUMNS, order), {
      head: headsOf(PATH_COLUMNS),
      json: pathJson,
      cells: (row) => PATH_COLUMNS.map(({ text }) => text(row)),
    });
  } else {
    await output.table(sorted(clients, CLIENT_COLUMNS, order), {
      head: headsOf(CLIENT_COLUMNS),
      json: clientJson,
      cells: (row) => CLIENT_COLUMNS.map(({ text }) => text(row)),
    });
  }
  return EXIT.done;
}

async function memberLooks(call: Call, port: AdminPort | null): Promise<MemberLooks> {
  const isNamed = ['connect', 'context', 'config'].some((name) => call.text(name) !== undefined);
  const servers: readonly NamedAddress[] =
    port !== null && !isNamed ? await port.servers(call.signal) : serversFor(call);
  return new MemberLooks(servers, Math.min(TIMEOUT_MS_MAX, 1000 * intervalOf(call)));
}

function intervalOf(call: Call): number {
  return call.number('interval') ?? INTERVAL_S_DEFAULT;
}

function pageOf(name = 'members'): Page {
  const page = PAGES.find((one) => one === name);
  if (page !== undefined) return page;
  throw new OperatorError(`--page: expected one of ${PAGES.join(', ')}.`);
}

const HEADS: Readonly<Record<Page, readonly string[]>> = {
  members: headsOf(COLUMNS),
  paths: headsOf(PATH_COLUMNS),
  clients: headsOf(CLIENT_COLUMNS),
};

function headsOf<Row>(columns: readonly Column<Row>[]): readonly string[] {
  return columns.map(({ head }) => head);
}

function columnOf(name: string | undefined, page: Page): number {
  if (name === undefined) return 0;
  const at = HEADS[page].indexOf(name.toUpperCase());
  if (at !== -1) return at;
  const names = HEADS[page].map((head) => head.toLowerCase()).join(', ');
  throw new OperatorError(`--sort: expected one of ${names}.`);
}

/** Asks all members `srvr` and `mntr`, again and again, for the rows that `top` shows of them. */
class MemberLooks {
  readonly #servers: readonly NamedAddress[];
  readonly #timeoutMs: number;
  #before: readonly Asked[] | null = null;

  constructor(servers: readonly NamedAddress[], timeoutMs: number) {
    this.#servers = servers;
    this.#timeoutMs = timeoutMs;
  }

  /** Rates are those since the look before. Never rejects. */
  async look(): Promise<readonly Row[]> {
    const asked = await Promise.all(this.#servers.map((server) => ask(server, this.#timeoutMs)));
    const rows = rowsOf(this.#before, asked);
    this.#before = asked;
    return rows;
  }
}

async function ask(server: NamedAddress, timeoutMs: number): Promise<Asked> {
  const { address } = server;
  // It may fail, and where the configuration does not allow the word it is a sentence that says so:
  // then the row lacks what only `mntr` tells.
  const details = askWord(server, 'mntr', timeoutMs).catch(() => null);
  try {
    const text = await askWord(server, 'srvr', timeoutMs);
    const atMs = performance.now();
    const sample = parseSample(text, await details);
    return { address, atMs, sample, problem: sample === null ? reasonOf(text) : null };
  } catch (error) {
    return { address, atMs: performance.now(), sample: null, problem: messageOf(error) };
  }
}
