/**
 * Writes what a member is about to discard to a file of JSON lines, for the operator: transactions
 * of its log, or its whole tree, to compare with the one that replaces it.
 *
 * The first line says what happened. Transactions follow with zxid and data in base64, the newest
 * ones that fit, in their order; sessions without their passwords. Of a tree each znode follows
 * with its path, Stat, ACL and data in base64, parents before their children. Files are bounded and
 * say how much they leave out. A file that cannot be written is logged and never stops the member.
 */
import { Fifo, formatZxid, type Proposal, type Zxid } from '@rookery/protocol';
import type { ReplicatedState } from '../state/replicated-state.js';
import { ROOT_NODE, type TreeReads } from '../state/tree.js';
import { txnOf } from '../state/txn-codec.js';
import type { DriverParts } from './parts.js';

/** The size of a file of transactions. Older ones that do not fit are only counted. */
const HISTORY_BYTES_MAX = 16 << 20;
const HISTORIES_MAX = 8;
const TREE_BYTES_MAX = 1 << 30;
const TREES_MAX = 2;
/** Bytes of a tree that are written at a time. Between two chunks the member does other work. */
const CHUNK_BYTES = 256 << 10;

interface Discard {
  /** Everything after this zxid is discarded. */
  readonly after: Zxid;
  readonly through: Zxid;
}

/** Resolves when the file of transactions is written or has failed. */
export async function keepDiscarded(parts: DriverParts, discard: Discard): Promise<void> {
  const counts = { transactions: 0, leftOut: 0 };
  const name = `discarded-${parts.timers.wallMs()}-${formatZxid(discard.after)}.jsonl`;
  const range = { after: formatZxid(discard.after), through: formatZxid(discard.through) };
  const kept = await keepLines(parts, name, linesOf(parts, discard, counts), HISTORIES_MAX);
  const event = 'file' in kept ? 'history.discarded' : 'history.discarded_unkept';
  parts.logger.error({ ...range, ...counts, ...kept }, event);
  parts.counters.discardedTransactions += counts.transactions + counts.leftOut;
}

/**
 * Resolves when the file of the tree is durable or has failed. The caller guarantees that nothing
 * changes the state in the meantime.
 */
export async function keepTree(
  parts: DriverParts,
  state: ReplicatedState,
  bytesMax = TREE_BYTES_MAX,
): Promise<void> {
  const zxid = formatZxid(state.lastZxid);
  const counts = { znodes: 0, leftOut: 0 };
  const name = `tree-${parts.timers.wallMs()}-${zxid}.jsonl`;
  const kept = await keepLines(
    parts,
    name,
    chunksOf(parts, state, { counts, bytesMax }),
    TREES_MAX,
  );
  const event = 'file' in kept ? 'tree.discarded' : 'tree.discarded_unkept';
  parts.logger.error({ zxid, ...counts, ...kept }, event);
}

/** Never rejects: resolves with the file, or with the error because of which there is none. */
async function keepLines(
  parts: DriverParts,
  name: string,
  lines: AsyncIterable<string>,
  filesMax: number,
): Promise<{ readonly file: string } | { readonly err: unknown }> {
  try {
    return { file: await parts.keepAside(name, lines, filesMax) };
  } catch (err) {
    return { err };
  }
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
      const text = line(describedTxn(proposal));
      newest.push(text);
      bytes += text.length;
      while (bytes > HISTORY_BYTES_MAX) {
        bytes -= newest.shift()?.length ?? bytes;
        counts.leftOut += 1;
      }
    }
  }
  counts.transactions = newest.length;
  if (counts.leftOut > 0) yield line({ olderLeftOut: counts.leftOut });
  yield* newest.toArray();
}

function describedTxn(proposal: Proposal): object {
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

async function* chunksOf(
  { options, timers }: DriverParts,
  state: ReplicatedState,
  to: { readonly counts: { znodes: number; leftOut: number }; readonly bytesMax: number },
): AsyncGenerator<string> {
  const { tree, lastZxid } = state;
  const { counts, bytesMax } = to;
  const digest = state.digest();
  const discardedAt = new Date(timers.wallMs()).toISOString();
  let chunk = line({ member: options.id, discardedAt, zxid: formatZxid(lastZxid), digest });
  let bytes = 0;
  const waiting = [ROOT_NODE];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    tree.visitChildren(node, (child) => {
      waiting.push(child);
      return true;
    });
    chunk += line(describedNode(tree, node));
    counts.znodes += 1;
    if (bytes + chunk.length >= bytesMax) break;
    if (chunk.length < CHUNK_BYTES) continue;
    bytes += chunk.length;
    yield chunk;
    chunk = '';
  }
  counts.leftOut = tree.nodeCount - counts.znodes;
  yield chunk + (counts.leftOut > 0 ? line({ leftOut: counts.leftOut }) : '');
}

/** Zxids and session ids are in hex, times in ms since 1970. */
function describedNode(tree: TreeReads, node: number): object {
  const data = tree.data(node);
  return {
    path: tree.path(node),
    czxid: formatZxid(tree.czxid(node)),
    mzxid: formatZxid(tree.mzxid(node)),
    pzxid: formatZxid(tree.pzxid(node)),
    ctime: tree.ctime(node),
    mtime: tree.mtime(node),
    version: tree.version(node),
    cversion: tree.stat(node).cversion,
    aversion: tree.aversion(node),
    mode: tree.mode(node),
    ephemeralOwner: formatZxid(tree.owner(node)),
    acl: tree.acl(node),
    data: data === null ? null : Buffer.from(data).toString('base64'),
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
