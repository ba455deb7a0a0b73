/**
 * `rookery inspect log` prints the transactions of a log of ZooKeeper, or of a stopped member, one
 * line each, and selects among them.
 *
 * Nothing is written. Exit code 0: all of it was read; 1: it is damaged after what was printed; 2:
 * a mistake of the caller.
 */

import {
  endText,
  headText,
  loadEnsembleConfig,
  loggedTransactions,
  OperatorError,
  readLogHeader,
  SnapshotFileError,
  type Transaction,
  zooKeeperTransactions,
} from '@rookery/server';
import { isWithin } from '../znodes/paths.js';
import { print } from './print.js';

interface LogCommand {
  /** A log file of ZooKeeper, `log.<zxid>`. */
  readonly file?: string | undefined;
  /** Alternatively, the config file of a member that does not run. */
  readonly config?: string;
  readonly id?: number;
  /** Selects what touches this path or something below it. */
  readonly path?: string;
  /** The session id in hex, as logs print it. */
  readonly session?: bigint;
  /** The time in ms since 1970. */
  readonly sinceMs?: number;
  /** `zookeeper`: as ZooKeeper's TxnLogToolkit prints its files. */
  readonly format: 'lines' | 'json' | 'zookeeper';
}

/** Resolves with the exit code. */
export async function runInspectLog(command: LogCommand): Promise<number> {
  try {
    const transactions = sourceOf(command);
    if (command.format === 'zookeeper') await printAsToolkit(command, transactions);
    else await printLines(command, transactions);
    return 0;
  } catch (error) {
    if (error instanceof SnapshotFileError) {
      process.stderr.write(`rookery: ${command.file} is damaged: ${error.message}\n`);
      return 1;
    }
    if (command.file !== undefined && error instanceof Error && 'code' in error) {
      const message = `${command.file} cannot be read: ${error.message}`;
      throw new OperatorError(message, { cause: error });
    }
    throw error;
  }
}

async function printLines(
  command: LogCommand,
  transactions: AsyncIterable<Transaction>,
): Promise<void> {
  for await (const transaction of transactions) {
    if (!isAskedFor(transaction, command)) continue;
    await print(command.format === 'json' ? jsonLine(transaction) : textLine(transaction));
  }
}

/** The number at the end is that of the transactions in the file. */
async function printAsToolkit(
  command: LogCommand,
  transactions: AsyncIterable<Transaction>,
): Promise<void> {
  const { file } = command;
  if (file === undefined) {
    throw new OperatorError('--format zookeeper is for the files of ZooKeeper only');
  }
  const header = await readLogHeader(file);
  if (header !== null) await print(headText(header));
  let count = 0;
  for await (const transaction of transactions) {
    count += 1;
    if (isAskedFor(transaction, command)) await print(transaction.toolkitText?.() ?? '');
  }
  await print(endText(count));
}

function sourceOf({ file, config, id }: LogCommand): AsyncIterable<Transaction> {
  if (file !== undefined && config === undefined && id === undefined) {
    return zooKeeperTransactions(file);
  }
  if (file === undefined && config !== undefined && id !== undefined) {
    return loggedTransactions(loadEnsembleConfig(config), id);
  }
  throw new OperatorError('give a file of ZooKeeper, or --config and --id of a stopped member');
}

export function isAskedFor(transaction: Transaction, asked: LogCommand): boolean {
  const { path, session, sinceMs } = asked;
  if (session !== undefined && transaction.session !== session) return false;
  if (sinceMs !== undefined && transaction.timeMs < sinceMs) return false;
  if (path === undefined) return true;
  return transaction.changes.some((change) => isWithin(change.path, path));
}

/** Control characters in paths are escaped, as in JSON. */
export function textLine(transaction: Transaction): string {
  const { zxid, timeMs, session, kind, changes } = transaction;
  const time = new Date(timeMs).toISOString();
  const parts = changes.map(({ kind: what, path, detail }) => {
    return `${what} ${JSON.stringify(path)}${detail === '' ? '' : ` ${detail}`}`;
  });
  const text = parts.length === 0 ? `${kind}${endedBy(transaction)}` : parts.join(', ');
  return `0x${zxid.toString(16)}  ${time}  session 0x${session.toString(16)}  ${text}\n`;
}

/** Says of the end of a session whether its client has closed it. */
function endedBy({ kind, origin }: Transaction): string {
  if (origin === null || (kind !== 'closeSession' && kind !== 'beginClose')) return '';
  return origin === 0 ? ' by the leader' : ` by its client at member ${origin}`;
}

function jsonLine({ zxid, timeMs, session, origin, kind, changes }: Transaction): string {
  const line = { zxid: `0x${zxid.toString(16)}`, timeMs, session: `0x${session.toString(16)}` };
  return `${JSON.stringify({ ...line, origin, kind, changes })}\n`;
}
