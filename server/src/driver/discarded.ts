/**
 * Writes transactions that a member is about to discard to a file, for the operator.
 *
 * The file consists of JSON lines: first what happened, then each transaction with its zxid, data
 * in base64, and no passwords of sessions. It has the newest transactions in their order, up to a
 * bound. A file that cannot be written is logged and never stops the member.
 */
import { Fifo, formatZxid, type Proposal, type Zxid } from '@rookery/protocol';
import { txnOf } from '../state/txn-codec.js';
import type { DriverParts } from './parts.js';

/** The size of one file. Older transactions that do not fit are only counted. */
const FILE_BYTES_MAX = 16 << 20;
const FILES_MAX = 8;

interface Discard {
  /** Everything after this zxid is discarded. */
  readonly after: Zxid;
  readonly through: Zxid;
}

/** Resolves when the file is written or has failed. */
export async function keepDiscarded(parts: DriverParts, discard: Discard): Promise<void> {
  const { logger, counters } = parts;
  const counts = { transactions: 0, leftOut: 0 };
  const name = `discarded-${parts.timers.wallMs()}-${formatZxid(discard.after)}.jsonl`;
  const range = { after: formatZxid(discard.after), through: formatZxid(discard.through) };
  try {
    const file = await parts.keepAside(name, linesOf(parts, discard, counts), FILES_MAX);
    logger.error({ ...range, ...counts, file }, 'history.discarded');
  } catch (error) {
    logger.error({ ...range, ...counts, err: error }, 'history.discarded_unkept');
  }
  counters.discardedTransactions += counts.transactions + counts.leftOut;
}

async function* linesOf(
  parts: DriverParts,
  { after, through }: Discard,
  counts: { transactions: number; leftOut: number },
): AsyncGenerator<string> {
  const { storage, options, timers } = parts;
  const from = Math.max(after, storage.base);
  const range = { after: formatZxid(from), through: formatZxid(through) };
  const discardedAt = new Date(timers.wallMs()).toISOString();
  yield line({ member: options.id, discardedAt, ...range });
  const newest = new Fifo<string>();
  let bytes = 0;
  for await (const batch of storage.readHistory(from, through)) {
    for (const proposal of batch) {
      const text = line(described(proposal));
      newest.push(text);
      bytes += text.length;
      while (bytes > FILE_BYTES_MAX) {
        bytes -= newest.shift()?.length ?? bytes;
        counts.leftOut += 1;
      }
    }
  }
  counts.transactions = newest.length;
  if (counts.leftOut > 0) yield line({ olderLeftOut: counts.leftOut });
  yield* newest.toArray();
}

function described(proposal: Proposal): object {
  const { origin, request, session, time, op } = txnOf(proposal);
  return {
    zxid: formatZxid(proposal.zxid),
    time,
    session: formatZxid(session),
    origin,
    request,
    op,
  };
}

function line(value: object): string {
  return `${JSON.stringify(value, plain)}\n`;
}

/** Replaces bytes by base64, and leaves out passwords of sessions. */
function plain(key: string, value: unknown): unknown {
  if (key === 'password') return undefined;
  if (Buffer.isBuffer(value) || value instanceof Uint8Array) {
    return Buffer.from(value).toString('base64');
  }
  const isBuffer = typeof value === 'object' && value !== null && 'type' in value;
  if (isBuffer && value.type === 'Buffer' && 'data' in value && Array.isArray(value.data)) {
    return Buffer.from(value.data).toString('base64');
  }
  return value;
}
