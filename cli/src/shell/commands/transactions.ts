/** `multi` executes several operations, all of them or none, each on a line of its own. */
import { BadArgumentsError, type TransactionOp, type TransactionResult } from '@rookery/client';
import { OperatorError } from '@rookery/server';
import { type Call, resolvePath } from '../../command/command.js';
import { splitLine } from '../words.js';

const OPERATIONS_MAX = 10_000;

export async function multi(call: Call): Promise<undefined> {
  const { output, signal } = call;
  const given = call.words(0);
  const lines = given.length > 0 ? given : (await call.around.readInput()).toString().split('\n');
  const ops = lines
    .filter((line) => line.trim() !== '' && !line.trim().startsWith('#'))
    .map((line) => operationOf(line, call.around.directory));
  if (ops.length === 0) throw new OperatorError('There is no operation: give one per line.');
  if (ops.length > OPERATIONS_MAX) {
    throw new OperatorError(`A transaction has at most ${OPERATIONS_MAX} operations.`);
  }
  const client = await call.client();
  if (call.isDryRun) {
    await output.talk(`Would do ${ops.length} operations, all or none.`);
    return;
  }
  const results = await client.multi(ops, { signal }).catch((error: unknown) => {
    throw refusalOf(error, `These are ${ops.length} operations`, 'nothing is done.');
  });
  const all = ops.map((op, at) => ({ op, result: results[at] }));
  await output.list(all, {
    json: ({ op, result }) => {
      return { kind: op.kind, path: pathOf(op, result), version: versionOf(result) };
    },
    text: ({ op, result }) => `${op.kind} ${pathOf(op, result)}`,
  });
}

/**
 * Returns what to say of a transaction that failed: OperatorError if the servers have refused it as
 * a whole, because it has more operations than they allow, which is not known before; otherwise
 * the error itself. A BadArgumentsError with a cause is from the client and about one argument.
 * `what` names the transaction and its number of operations.
 */
export function refusalOf(error: unknown, what: string, consequence: string): unknown {
  if (!(error instanceof BadArgumentsError) || error.cause !== undefined) return error;
  return new OperatorError(
    `${what}, more than the servers allow in one transaction (multiOpsMax): ${consequence}`,
    { cause: error },
  );
}

function pathOf(op: TransactionOp, result: TransactionResult | undefined): string {
  return result?.kind === 'create' ? result.path : op.path;
}

function versionOf(result: TransactionResult | undefined): number | null {
  return result?.kind === 'setData' ? result.stat.version : null;
}

const FORMS =
  'create PATH [DATA], set PATH DATA [VERSION], rm PATH [VERSION] or check PATH [VERSION]';

/** Throws OperatorError. */
function operationOf(line: string, directory: string): TransactionOp {
  const { words, openQuote } = splitLine(line);
  const [name = '', path, ...rest] = words;
  const wrong = new OperatorError(
    `${JSON.stringify(line)} is not an operation: expected one of ${FORMS}.`,
  );
  if (openQuote !== null || path === undefined) throw wrong;
  const at = { path: resolvePath(directory, path) };
  const [first, second] = rest;
  if (rest.length > (name === 'set' ? 2 : 1)) throw wrong;
  if (name === 'create') return { kind: 'create', ...at, data: first ?? null };
  if (name === 'set' && first !== undefined) {
    return { kind: 'setData', ...at, data: first, ...versionOption(second, wrong) };
  }
  if (name === 'rm') return { kind: 'delete', ...at, ...versionOption(first, wrong) };
  if (name === 'check') return { kind: 'check', ...at, ...versionOption(first, wrong) };
  throw wrong;
}

function versionOption(text: string | undefined, wrong: Error): { version?: number } {
  if (text === undefined) return {};
  if (!/^-?\d{1,10}$/.test(text)) throw wrong;
  return { version: Number(text) };
}
