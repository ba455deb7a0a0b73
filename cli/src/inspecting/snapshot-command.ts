/**
 * `rookery inspect snapshot FILE` shows what is in a snapshot of Apache ZooKeeper, and whether it
 * is whole.
 *
 * Nothing is written. Exit code 0: it is whole; 1: it is damaged, and the message says where; 2:
 * the file cannot be opened. A digest that differs is reported and is not damage: see
 * `snapshot-reader.ts` of the server.
 */
import {
  OperatorError,
  readSnapshotFile,
  type SnapshotFacts,
  SnapshotFileError,
  type SnapshotNode,
} from '@rookery/server';
import { countText } from '../command/values.js';
import { print } from './print.js';
import { type FormattedNode, snapshotText } from './snapshot-text.js';

interface InspectCommand {
  readonly file: string;
  /** `zookeeper`: as ZooKeeper's SnapshotFormatter prints it. */
  readonly format: 'text' | 'json' | 'zookeeper';
  /** For `zookeeper`. */
  readonly withData: boolean;
}

interface SnapshotReport {
  readonly file: string;
  /** Zxids and digests in hex. */
  readonly zxid: string | null;
  readonly lastZxid: string | null;
  readonly sessions: number;
  readonly znodes: number;
  readonly ephemerals: number;
  readonly containers: number;
  readonly ttlZnodes: number;
  readonly dataBytes: number;
  readonly aclLists: number;
  readonly missingAcls: number;
  readonly digest: 'matches' | 'differs' | 'none';
  readonly digestZxid: string | null;
  readonly largest: { readonly path: string; readonly bytes: number };
  /** Grouped by the first segment of their paths; those with the most znodes come first. */
  readonly subtrees: readonly Subtree[];
}

interface Subtree {
  readonly path: string;
  znodes: number;
  dataBytes: number;
}

const SUBTREES_MAX = 20;
const CONTAINER_OWNER = -(2n ** 63n);
const TTL_MARK = 0xffn;

/** Of a znode that waits to be printed, beside its path and its data. */
const NODE_BYTES = 400;
const HELD_BYTES_MAX = 2 ** 31;

/** Resolves with the exit code. */
export async function runInspect({ file, format, withData }: InspectCommand): Promise<number> {
  try {
    if (format === 'zookeeper') {
      await printAsFormatter(file, withData);
      return 0;
    }
    const report = await inspectSnapshot(file);
    await print(format === 'json' ? `${JSON.stringify(report, null, 2)}\n` : textOf(report));
    return 0;
  } catch (error) {
    if (error instanceof SnapshotFileError) {
      process.stderr.write(`rookery: ${file} is damaged: ${error.message}\n`);
      return 1;
    }
    if (error instanceof Error && 'code' in error) {
      throw new OperatorError(`${file} cannot be read: ${error.message}`, { cause: error });
    }
    throw error;
  }
}

async function printAsFormatter(file: string, withData: boolean): Promise<void> {
  const nodes: FormattedNode[] = [];
  let heldBytes = 0;
  const { zxid, sessions, digest } = await readSnapshotFile(file, ({ data, ...node }) => {
    const dataBytes = data?.length ?? 0;
    heldBytes += NODE_BYTES + node.path.length + (withData ? dataBytes : 0);
    if (heldBytes > HELD_BYTES_MAX) throw new OperatorError(tooLarge(file));
    // The data is a part of a larger piece of memory.
    nodes.push({ node, data: withData && data !== null ? Buffer.from(data) : null, dataBytes });
  });
  const last = zxid ?? digest?.zxid ?? 0n;
  for (const text of snapshotText({ nodes, sessions, zxid: last, withData })) await print(text);
}

function tooLarge(file: string): string {
  return (
    `${file} is too large to be printed as ZooKeeper's SnapshotFormatter does it: its znodes are ` +
    `sorted in memory, in at most ${HELD_BYTES_MAX} bytes. Without --format, it takes any size`
  );
}

/** Rejects with SnapshotFileError for a damaged file, otherwise with the system's error. */
async function inspectSnapshot(file: string): Promise<SnapshotReport> {
  const tally = new Tally();
  const facts = await readSnapshotFile(file, (node) => tally.add(node));
  return {
    file,
    zxid: facts.zxid === null ? null : hex(facts.zxid),
    lastZxid: facts.lastZxid === null ? null : hex(facts.lastZxid),
    sessions: facts.sessions.size,
    znodes: facts.nodes,
    ephemerals: tally.ephemerals,
    containers: tally.containers,
    ttlZnodes: tally.ttlZnodes,
    dataBytes: facts.dataBytes,
    aclLists: facts.aclLists,
    missingAcls: facts.missingAcls,
    digest: digestVerdict(facts),
    digestZxid: facts.digest === null ? null : hex(facts.digest.zxid),
    largest: tally.largest,
    subtrees: tally.subtrees(),
  };
}

class Tally {
  ephemerals = 0;
  containers = 0;
  ttlZnodes = 0;
  largest = { path: '/', bytes: 0 };
  readonly #subtrees = new Map<string, Subtree>();

  add({ path, data, ephemeralOwner }: SnapshotNode): void {
    const bytes = data?.length ?? 0;
    if (ephemeralOwner === CONTAINER_OWNER) this.containers += 1;
    else if (BigInt.asUintN(64, ephemeralOwner) >> 56n === TTL_MARK) this.ttlZnodes += 1;
    else if (ephemeralOwner !== 0n) this.ephemerals += 1;
    if (bytes > this.largest.bytes) this.largest = { path, bytes };
    if (path === '') return;
    const end = path.indexOf('/', 1);
    const top = end < 0 ? path : path.slice(0, end);
    const subtree = this.#subtrees.get(top) ?? { path: top, znodes: 0, dataBytes: 0 };
    subtree.znodes += 1;
    subtree.dataBytes += bytes;
    this.#subtrees.set(top, subtree);
  }

  subtrees(): Subtree[] {
    const all = [...this.#subtrees.values()];
    return all.sort((a, b) => b.znodes - a.znodes).slice(0, SUBTREES_MAX);
  }
}

function digestVerdict({ digest }: SnapshotFacts): SnapshotReport['digest'] {
  if (digest === null) return 'none';
  return digest.kept === digest.computed ? 'matches' : 'differs';
}

function textOf(report: SnapshotReport): string {
  const { ephemerals, containers, ttlZnodes, largest } = report;
  const kinds =
    `${ephemerals} ephemeral, ${countText(containers, 'container')}, ` +
    `${ttlZnodes} with a time to live`;
  const lines = [
    `file        ${report.file}: whole`,
    `zxid        ${report.zxid ?? 'not in its name'}`,
    ...(report.lastZxid === null ? [] : [`last zxid   ${report.lastZxid}`]),
    `sessions    ${report.sessions}`,
    `znodes      ${report.znodes} (${kinds})`,
    `data        ${report.dataBytes} bytes, at most ${largest.bytes} in ${largest.path || '/'}`,
    `ACL lists   ${report.aclLists}`,
    ...(report.missingAcls === 0
      ? []
      : [`            ${countText(report.missingAcls, 'znode')} without any of them`]),
    `digest      ${digestText(report)}`,
    '',
    'subtrees, those with the most znodes first:',
    ...report.subtrees.map(
      ({ path, znodes, dataBytes }) =>
        `  ${path}  ${countText(znodes, 'znode')}, ${dataBytes} bytes`,
    ),
  ];
  return `${lines.join('\n')}\n`;
}

function digestText({ digest, digestZxid }: SnapshotReport): string {
  if (digest === 'none') return 'the file has none';
  if (digest === 'matches') return `matches, at ${digestZxid}`;
  return `is of ${digestZxid}: the tree changed while the file was written, and the log has the rest`;
}

function hex(value: bigint): string {
  return `0x${BigInt.asUintN(64, value).toString(16)}`;
}
