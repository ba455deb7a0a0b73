/**
 * `acl audit` lists the znodes below a path at which everybody may change something, or, with
 * `--sha1`, those whose ACLs have digests of SHA-1.
 *
 * Everybody is `world:anyone`, and an `ip` range that has every address. The tree is walked page by
 * page, ACLs are asked for in batches, and findings are written as they come, so memory grows with
 * the depth of the tree alone. A znode whose ACL may not be read makes the audit incomplete, which
 * is a failure: run it as a super user. The exit code is 3 if anything was found.
 */
import { type Acl, type Client, NoAuthError, NoNodeError } from '@rookery/client';
import { permsText } from '@rookery/protocol';
import { changesByEverybody } from '@rookery/server';
import { type Call, EXIT } from '../../command/command.js';
import { clean, countText } from '../../command/values.js';
import { type Walked, walk } from '../walk.js';

interface AclFinding {
  readonly path: string;
  /** What everybody may do, besides reading; none with `--sha1`. */
  readonly perms: number;
  /** Those with a digest of SHA-1 in the ACL; none without `--sha1`. */
  readonly users: readonly string[];
}

const BATCH = 64;
/** The base64 of 20 bytes. */
const SHA1 = /^(.*):[A-Za-z0-9+/]{27}=$/s;
/** What servers show in place of a digest to those who may not administrate the znode. */
const HIDDEN = /:x$/;
const SHOWN_MAX = 3;

export async function auditAcls(call: Call): Promise<number> {
  const { output, signal } = call;
  const isOfSha1 = call.flag('sha1');
  const client = await call.client();
  const closed = new ClosedPaths();
  const nodes = walk({ client, path: call.path(0), signal });
  const judge = isOfSha1 ? sha1Finding : worldFinding;
  const count = await output.list(findings(client, nodes, { judge, closed, signal }), {
    json: ({ path, perms, users }) =>
      isOfSha1 ? { path, users } : { path, perms: permsText(perms) },
    text: ({ path, perms, users }) => {
      const what = isOfSha1 ? users.join(',') : permsText(perms).padEnd(5);
      return `${clean(what)} ${clean(path)}`;
    },
    raw: ({ path }) => path,
  });
  if (closed.count === 0) return count === 0 ? EXIT.done : EXIT.no;
  await output.talk(
    `The audit is incomplete: the ACLs of ${countText(closed.count, 'znode')} ` +
      'forbid to read them or what is below: ' +
      `${closed.first.map(clean).join(', ')}. Run it as a super user.`,
  );
  return EXIT.failed;
}

/** The paths of which something could not be read: their number, and the first ones. */
class ClosedPaths {
  count = 0;
  readonly first: string[] = [];

  add(path: string): void {
    this.count += 1;
    if (this.first.length < SHOWN_MAX) this.first.push(path);
  }
}

/** Null for nothing to report; `hidden` if the digests in the ACL are not shown. */
type Judge = (path: string, acl: readonly Acl[]) => AclFinding | 'hidden' | null;

async function* findings(
  client: Pick<Client, 'getAcl'>,
  nodes: AsyncIterable<Walked>,
  { judge, closed, signal }: { judge: Judge; closed: ClosedPaths; signal: AbortSignal },
): AsyncGenerator<AclFinding, void> {
  let batch: Walked[] = [];
  const judged = async ({ path, isClosed }: Walked): Promise<AclFinding | null> => {
    try {
      const { acl } = await client.getAcl(path, { signal });
      const finding = judge(path, acl);
      if (finding === 'hidden' || isClosed) closed.add(path);
      return finding === 'hidden' ? null : finding;
    } catch (error) {
      if (error instanceof NoAuthError) closed.add(path);
      else if (!(error instanceof NoNodeError)) throw error;
      return null;
    }
  };
  const flush = async () => {
    const found = await Promise.all(batch.map(judged));
    batch = [];
    return found.filter((finding) => finding !== null);
  };
  for await (const node of nodes) {
    batch.push(node);
    if (batch.length >= BATCH) yield* await flush();
  }
  yield* await flush();
}

export function worldFinding(path: string, acl: readonly Acl[]): AclFinding | null {
  const perms = changesByEverybody(acl);
  return perms === 0 ? null : { path, perms, users: [] };
}

export function sha1Finding(path: string, acl: readonly Acl[]): AclFinding | 'hidden' | null {
  const digests = acl.filter(({ scheme }) => scheme === 'digest');
  if (digests.some(({ id }) => HIDDEN.test(id))) return 'hidden';
  const users = digests.flatMap(({ id }) => SHA1.exec(id)?.[1] ?? []);
  return users.length === 0 ? null : { path, perms: 0, users: [...new Set(users)] };
}
