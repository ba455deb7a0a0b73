/**
 * Writes a tree that a member is about to discard to a file, so that the operator can compare it
 * with the tree that replaces it.
 *
 * The file consists of JSON lines: first whose tree it is and at which zxid, then each znode with
 * its path, Stat, ACL and data (base64), parents before their children. Its size is bounded, and it
 * says how much it leaves out. A file that cannot be written is logged and never stops the member.
 */
import { formatZxid } from '@rookery/protocol';
import type { ReplicatedState } from '../state/replicated-state.js';
import { ROOT_NODE, type TreeReads } from '../state/tree.js';
import type { DriverParts } from './parts.js';

/** The size of one file. */
const FILE_BYTES_MAX = 1 << 30;
/** Bytes written at a time. Between two chunks the member does other work. */
const CHUNK_BYTES = 256 << 10;
const FILES_MAX = 2;

/**
 * Resolves when the file is durable or has failed. The caller guarantees that nothing changes the
 * state meanwhile.
 */
export async function keepTree(
  parts: DriverParts,
  state: ReplicatedState,
  bytesMax = FILE_BYTES_MAX,
): Promise<void> {
  const { logger } = parts;
  const zxid = formatZxid(state.lastZxid);
  const counts = { znodes: 0, leftOut: 0 };
  const name = `tree-${parts.timers.wallMs()}-${zxid}.jsonl`;
  try {
    const chunks = chunksOf(parts, state, { counts, bytesMax });
    const file = await parts.keepAside(name, chunks, FILES_MAX);
    logger.error({ zxid, ...counts, file }, 'tree.discarded');
  } catch (error) {
    logger.error({ zxid, ...counts, err: error }, 'tree.discarded_unkept');
  }
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
    chunk += line(described(tree, node));
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
function described(tree: TreeReads, node: number): object {
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
  return `${JSON.stringify(value)}\n`;
}
