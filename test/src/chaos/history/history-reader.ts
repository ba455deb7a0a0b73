/**
 * Reads a history line by line, and pairs the beginning of each operation with its end.
 *
 * If the run was killed, the file may be cut off in its last line; that line is left out.
 * Anything else that is not a line of a history is an error.
 */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { HistoryEntry, Json } from './entry.js';

/** Resolves with the entries of one workload, or of all, in the order of the file. */
export async function readHistory(path: string, workload?: string): Promise<HistoryEntry[]> {
  const entries: HistoryEntry[] = [];
  let broken: string | null = null;
  for await (const line of createInterface({ input: createReadStream(path, 'utf8') })) {
    if (broken !== null) throw new Error(`not a line of a history: ${broken.slice(0, 200)}`);
    const entry = entryOf(line);
    if (entry === null) broken = line;
    else if (workload === undefined || entry.workload === workload) entries.push(entry);
  }
  return entries;
}

function entryOf(line: string): HistoryEntry | null {
  try {
    const value: unknown = JSON.parse(line);
    return isEntry(value) ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function isEntry(value: unknown): value is HistoryEntry {
  if (typeof value !== 'object' || value === null) return false;
  return 'index' in value && 'process' in value && 'type' in value && 'f' in value;
}

/** An operation as checkers see it. Positions are indexes of the history. */
export interface HistoryOperation {
  readonly f: string;
  readonly client: number;
  /** The argument of the operation. */
  readonly asked: Json;
  readonly calledAt: number;
  readonly calledNs: number;
  /** Also `info` if the operation never ended. */
  readonly outcome: 'ok' | 'fail' | 'info';
  /** The result of an `ok`; otherwise the argument. */
  readonly value: Json;
  /** Infinity if the operation never ended. */
  readonly endedAt: number;
  readonly endedNs: number;
  readonly session: string | null;
  /** The highest zxid that the client had seen at the end; 0 if that is unknown. */
  readonly zxid: number;
  readonly error: string | null;
}

/**
 * Returns the operations in the order of their calls. Throws if an end has no beginning, or if a
 * process did two operations at once.
 */
export function operationsOf(history: readonly HistoryEntry[]): HistoryOperation[] {
  const operations: HistoryOperation[] = [];
  const underWay = new Map<number, number>();
  for (const entry of history) {
    const at = underWay.get(entry.process);
    if (entry.type === 'invoke') {
      if (at !== undefined) throw new Error(`process ${entry.process} did two things at once`);
      underWay.set(entry.process, operations.push(begun(entry)) - 1);
      continue;
    }
    const operation = at === undefined ? undefined : operations[at];
    if (at === undefined || operation === undefined) {
      throw new Error(`an end without a beginning at ${entry.index}`);
    }
    underWay.delete(entry.process);
    operations[at] = {
      ...operation,
      outcome: entry.type,
      value: entry.value,
      endedAt: entry.index,
      endedNs: entry.time,
      session: entry.session ?? null,
      zxid: entry.zxid ?? 0,
      error: entry.error ?? null,
    };
  }
  return operations;
}

function begun({ f, client, value, index, time }: HistoryEntry): HistoryOperation {
  const never = Number.POSITIVE_INFINITY;
  return {
    f,
    client,
    asked: value,
    calledAt: index,
    calledNs: time,
    outcome: 'info',
    value,
    endedAt: never,
    endedNs: never,
    session: null,
    zxid: 0,
    error: null,
  };
}
