/**
 * `top`: how each member of an ensemble does, now and again.
 *
 * Members of Rookery and of ZooKeeper are asked `srvr` and `mntr` on their client ports, all at the
 * same time; one that does not answer keeps its row, which says why. No session is opened.
 */
import { OperatorError } from '@rookery/server';
import { pause } from '../pause.js';
import type { NamedAddress } from '../shell/addresses.js';
import { type Call, EXIT } from '../shell/command.js';
import { serversFor } from '../shell/servers-for.js';
import { askWord } from '../status/four-letter-word.js';
import { reasonOf } from '../status/server-status.js';
import { COLUMNS, rowJson, sorted } from './frame.js';
import { type Asked, type Row, rowsOf } from './rows.js';
import { parseSample } from './sample.js';

const INTERVAL_S_DEFAULT = 2;
const TIMEOUT_MS_MAX = 2_000;

/** Resolves with the exit code; 4 if no member serves with `--once`. */
export async function top(call: Call): Promise<number> {
  const intervalS = call.number('interval') ?? INTERVAL_S_DEFAULT;
  const order = { column: columnOf(call.text('sort')), isReversed: false };
  const servers = serversFor(call);
  let before: readonly Asked[] | null = null;
  const look = async (): Promise<readonly Row[]> => {
    const timeoutMs = Math.min(TIMEOUT_MS_MAX, 1000 * intervalS);
    const asked = await Promise.all(servers.map((server) => ask(server, timeoutMs)));
    const rows = rowsOf(before, asked);
    before = asked;
    return rows;
  };
  if (call.flag('once')) {
    await look();
    await pause(1000 * intervalS, call.signal);
    return await print(call, sorted(await look(), order));
  }
  if (call.around.isShell || !call.output.isTerminal || !process.stdin.isTTY) {
    throw new OperatorError('The live view needs a terminal of its own: use top --once here.');
  }
  // React's checks for developers cost memory with every frame.
  process.env['NODE_ENV'] ??= 'production';
  const { showLive } = await import('./live.js');
  await showLive({ intervalS, order, look, signal: call.signal });
  return EXIT.done;
}

async function print({ output }: Call, rows: readonly Row[]): Promise<number> {
  await output.table(rows, {
    head: [...COLUMNS.map(({ head }) => head), ''],
    json: rowJson,
    cells: (row) => [...COLUMNS.map(({ text }) => text(row)), row.problem ?? ''],
  });
  return rows.some(({ role }) => role !== null) ? EXIT.done : EXIT.disconnected;
}

function columnOf(name: string | undefined): number {
  if (name === undefined) return 0;
  const at = COLUMNS.findIndex(({ head }) => head === name.toUpperCase());
  if (at !== -1) return at;
  const names = COLUMNS.map(({ head }) => head.toLowerCase()).join(', ');
  throw new OperatorError(`--sort: expected one of ${names}.`);
}

async function ask(server: NamedAddress, timeoutMs: number): Promise<Asked> {
  const { address } = server;
  // ZooKeeper closes the connection, or says so, where its configuration does not allow a word.
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

/** The error for a name with several addresses has a code and no message. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.message !== '') return error.message;
  return 'code' in error ? String(error.code) : 'no answer';
}
