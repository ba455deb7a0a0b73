/**
 * Prints a snapshot as ZooKeeper's own SnapshotFormatter does, so that programs that parse that
 * output can parse this. Times are UTC. Siblings are in the order of their names, where ZooKeeper
 * has that of a hash table.
 *
 * `rookery inspect snapshot` calls it.
 */
import { ownerKind, type SnapshotNode } from '@rookery/server';

const SEPARATOR = '----\n';
const HEX_DIGITS = 14;
const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = [
  ...['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun'],
  ...['Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'],
];

/** Without data where that is not printed: all znodes are held until they are sorted. */
export interface FormattedNode {
  readonly node: Omit<SnapshotNode, 'data'>;
  readonly data: Buffer | null;
  readonly dataBytes: number;
}

interface FormattedSnapshot {
  readonly nodes: readonly FormattedNode[];
  readonly sessions: ReadonlyMap<bigint, number>;
  readonly zxid: bigint;
  /** Whether data is printed in base64, as ZooKeeper can, instead of its length. */
  readonly withData: boolean;
}

export function* snapshotText(snapshot: FormattedSnapshot): Generator<string> {
  const { nodes, sessions, zxid, withData } = snapshot;
  const owned = new Map<bigint, number>();
  // ZooKeeper has the root twice in its table.
  yield `ZNode Details (count=${nodes.length + 1}):\n`;
  for (const each of nodes.toSorted((a, b) => (a.node.path < b.node.path ? -1 : 1))) {
    const { ephemeralOwner: owner } = each.node;
    if (ownerKind(owner) === 'session') owned.set(owner, (owned.get(owner) ?? 0) + 1);
    yield SEPARATOR + nodeText(each, withData);
  }
  yield `${SEPARATOR}Session Details (sid, timeout, ephemeralCount):\n`;
  for (const [id, timeoutMs] of sessions) {
    yield `${paddedHex(id)}, ${timeoutMs}, ${owned.get(id) ?? 0}\n`;
  }
  yield `${SEPARATOR}Last zxid: 0x${hex(zxid)}\n`;
}

function nodeText({ node, data, dataBytes }: FormattedNode, withData: boolean): string {
  return [
    node.path === '' ? '/' : node.path,
    `  cZxid = ${paddedHex(node.czxid)}`,
    `  ctime = ${timeText(node.ctime)}`,
    `  mZxid = ${paddedHex(node.mzxid)}`,
    `  mtime = ${timeText(node.mtime)}`,
    `  pZxid = ${paddedHex(node.pzxid)}`,
    `  cversion = ${node.cversion}`,
    `  dataVersion = ${node.version}`,
    `  aclVersion = ${node.aversion}`,
    `  ephemeralOwner = ${paddedHex(node.ephemeralOwner)}`,
    withData ? `  data = ${data?.toString('base64') ?? ''}` : `  dataLength = ${dataBytes}`,
    '',
  ].join('\n');
}

function paddedHex(value: bigint): string {
  return `0x${hex(value).padStart(HEX_DIGITS, '0')}`;
}

/** In the format of Java's Date. */
function timeText(ms: bigint): string {
  const time = new Date(Number(ms));
  const clock = time.toISOString().slice(11, 19);
  const day = String(time.getUTCDate()).padStart(2, '0');
  const date = `${DAYS[time.getUTCDay()]} ${MONTHS[time.getUTCMonth()]} ${day}`;
  return `${date} ${clock} UTC ${time.getUTCFullYear()}`;
}

function hex(value: bigint): string {
  return BigInt.asUintN(64, value).toString(16);
}
