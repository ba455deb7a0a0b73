/**
 * `cp` and `mv` copy and move subtrees, within an ensemble or to another one.
 *
 * A copy is made znode by znode, parents first, and reports at the end what it did; a move is one
 * transaction that checks the version of every znode that it read, so that it happens either
 * completely, to exactly what was read, or not at all. Containers and TTL znodes become persistent
 * ones, because no server shows their kind.
 */
import { type Client, createRecursive, NodeExistsError, type TransactionOp } from '@rookery/client';
import { OperatorError } from '@rookery/server';
import { type Call, EXIT } from '../../command/command.js';
import { countText, kindOf, sizeText } from '../../command/values.js';
import { type Walked, walk } from '../walk.js';
import { CopiedAcls } from './copied-acls.js';
import { refusalOf } from './transactions.js';

/** A multi is one frame: the default limit of a server, less the names and ACLs. */
const MOVE_BYTES_MAX = 900_000;
const MOVE_NODES_MAX = 5_000;
/** The default of `multiOpsMax`; members may allow more or fewer. ZooKeeper has no such bound. */
const OPS_BY_DEFAULT = 4_096;

interface Copied {
  created: number;
  replaced: number;
  skipped: number;
  bytes: number;
}

export async function cp(call: Call): Promise<number> {
  const { output, signal } = call;
  const [source, target] = [call.path(0), call.path(1)];
  const to = call.text('to');
  const from = await call.client();
  const into = to === undefined ? from : await call.around.other(to);
  if (to === undefined) forbidInside(source, target);
  const depth = call.flag('recursive') ? {} : { depthMax: 0 };
  const acls = call.flag('acls') ? await CopiedAcls.at(into, target) : null;
  const copied: Copied = { created: 0, replaced: 0, skipped: 0, bytes: 0 };
  const nodes = walk({ client: from, path: source, signal, withData: true, ...depth });
  try {
    for await (const node of nodes) {
      if (node.data === null && node.isClosed) {
        throw new Error(`The ACL of ${node.path} forbids to read it; what is before it is copied.`);
      }
      const path = moved(node.path, source, target);
      await acls?.finishUpTo(path);
      if (kindOf(node.stat.ephemeralOwner) === 'ephemeral') copied.skipped++;
      else await copyOne(call, { from, into, node, path, acls }, copied);
    }
    await acls?.finishUpTo(null);
  } catch (error) {
    const remark = acls?.remark ?? null;
    if (remark !== null) await output.talk(remark);
    throw error;
  }
  await output.value({ source, target, ...copied }, () => '');
  const verb = call.isDryRun ? 'Would copy' : 'Copied';
  const parts = [
    `${verb} ${countText(copied.created + copied.replaced, 'znode')} with ${sizeText(copied.bytes)}`,
    ...(copied.replaced > 0 ? [`${copied.replaced} of them over others`] : []),
    ...(copied.skipped > 0 ? [`${copied.skipped} ephemeral ones left out`] : []),
  ];
  await output.talk(`${parts.join(', ')}.`);
  return EXIT.done;
}

interface OneCopy {
  readonly from: Client;
  readonly into: Client;
  readonly node: Walked;
  readonly path: string;
  /** Null if the copy has no ACLs of its own. */
  readonly acls: CopiedAcls | null;
}

async function copyOne(call: Call, one: OneCopy, copied: Copied): Promise<void> {
  const { from, into, node, path, acls } = one;
  const { signal } = call;
  const data = node.data ?? null;
  copied.bytes += node.stat.dataLength;
  const overwrite = call.flag('overwrite');
  const acl = acls === null ? null : await wholeAcl(from, node.path, signal);
  if (acls !== null && acl !== null && call.flag('recursive') && node.stat.numChildren > 0) {
    await acls.require(node.path, acl);
  }
  if (call.isDryRun) {
    const there = await into.exists(path, { signal });
    if (there === null) copied.created++;
    else if (overwrite) copied.replaced++;
    else throw new NodeExistsError(path);
    return;
  }
  try {
    if (acls === null || acl === null) await createRecursive(into, path, data, { signal });
    else {
      await acls.make({ path, acl }, (given) => {
        return createRecursive(into, path, data, { acl: given, signal });
      });
    }
    copied.created++;
  } catch (error) {
    if (!(error instanceof NodeExistsError) || !overwrite) throw error;
    const write = () => into.setData(path, data, { signal });
    if (acls === null || acl === null) await write();
    else await acls.replace({ path, acl }, write);
    copied.replaced++;
  }
}

/** Servers cut digests for clients without admin rights: such an ACL would match no one. */
async function wholeAcl(client: Client, path: string, signal: AbortSignal) {
  const { acl } = await client.getAcl(path, { signal });
  if (acl.every(({ scheme, id }) => scheme !== 'digest' || !id.endsWith(':x'))) return acl;
  throw new OperatorError(`You do not see the whole ACL of ${path}, so it cannot be kept.`);
}

function moved(path: string, source: string, target: string): string {
  const below = source === '/' ? path : path.slice(source.length);
  return below === '' || below === '/' ? target : `${target === '/' ? '' : target}${below}`;
}

function forbidInside(source: string, target: string): void {
  const inside = target === source || target.startsWith(source === '/' ? '/' : `${source}/`);
  if (inside) throw new OperatorError(`${target} is within ${source}.`);
}

export async function mv(call: Call): Promise<number> {
  const { output, signal } = call;
  const [source, target] = [call.path(0), call.path(1)];
  forbidInside(source, target);
  const client = await call.client();
  const creates: TransactionOp[] = [];
  const deletes: TransactionOp[] = [];
  let bytes = 0;
  for await (const node of walk({ client, path: source, signal, withData: true })) {
    const kind = kindOf(node.stat.ephemeralOwner);
    if (node.isClosed) throw new OperatorError(`The ACL of ${node.path} forbids to read it.`);
    if (kind === 'ephemeral') {
      throw new OperatorError(`${node.path} is ephemeral: it cannot move to another session.`);
    }
    const path = moved(node.path, source, target);
    const acl = await wholeAcl(client, node.path, signal);
    creates.push({ kind: 'create', path, data: node.data ?? null, acl });
    deletes.push({ kind: 'delete', path: node.path, version: node.stat.version });
    bytes += node.stat.dataLength + 2 * Buffer.byteLength(path) + 64;
    if (creates.length > MOVE_NODES_MAX || bytes > MOVE_BYTES_MAX) {
      throw new OperatorError(
        `${source} is too large for one transaction: use cp -r, and rm -r when it is done.`,
      );
    }
  }
  const ops = [...creates, ...deletes.reverse()];
  if (!call.isDryRun) {
    await client.multi(ops, { signal }).catch((error: unknown) => {
      const advice = 'nothing is moved. Use cp -r, and rm -r when it is done.';
      throw refusalOf(error, `${source} needs ${ops.length} operations`, advice);
    });
  }
  await output.value({ source, target, moved: creates.length }, () => '');
  const verb = call.isDryRun ? 'Would move' : 'Moved';
  const doubt =
    call.isDryRun && ops.length > OPS_BY_DEFAULT
      ? ` The servers must allow transactions of ${ops.length} operations (multiOpsMax).`
      : '';
  await output.talk(`${verb} ${countText(creates.length, 'znode')}.${doubt}`);
  return EXIT.done;
}
