/**
 * Property: a write is refused for want of a permission if and only if its client has not got it.
 * Source: ZooKeeper's access control; ZOOKEEPER-2590, 2405, 1634.
 *
 * A connection is known as those users that it has proven to be before it sent the request. What
 * counts is the ACL right before the transaction in which the write was done or refused: that of
 * the parent for a create or a delete, otherwise that of the znode. In a multi, what its earlier
 * parts have created counts, too. What is written of an ACL is what was asked for, with the users
 * of the connection in place of `auth`. That a refused write changes nothing is checked by
 * acknowledged, and what strangers may read by shown-state.
 */
import { ErrorCode, formatZxid, Perms, parentOf, unreachable } from '@rookery/protocol';
import { PropertyBroken } from '../../contract/checker.js';
import {
  type AclEntry,
  hasSameEntries,
  permits,
  storedAcl,
  textOfAcl,
} from '../../contract/grants.js';
import type { Invocation, Reply } from '../../contract/history.js';
import type { CommittedTree } from './committed-tree.js';
import { aclIdOf } from './done-by.js';
import { asked, isWrite, type NewPart, type Part, type Write } from './part.js';

type Single = Exclude<Write, { readonly kind: 'multi' }> | PartOf;
type PartOf = (Write & { readonly kind: 'multi' })['parts'][number];

/** They may be found before the ACL is looked at. */
const FOUND_BEFORE: ReadonlySet<number> = new Set([
  ErrorCode.noAuth,
  ErrorCode.invalidAcl,
  ErrorCode.sessionExpired,
]);
const NOBODY: readonly string[] = [];

class Permissions implements Part {
  readonly property = 'a write is refused for want of a permission if and only if it is wanting';
  readonly #tree: CommittedTree;

  constructor(tree: CommittedTree) {
    this.#tree = tree;
  }

  onReply(reply: Reply): void {
    const { invocation, result } = reply;
    const { operation } = invocation;
    const { zxid } = result;
    if (!isWrite(operation) || zxid <= this.#tree.floorZxid) return;
    const isMulti = operation.kind === 'multi';
    const parts: readonly Single[] = isMulti ? operation.parts : [operation];
    const codes = isMulti ? result.parts?.map(({ error }) => error) : [result.error];
    // One that was refused as a whole; others than that are for acknowledged to judge.
    if (codes?.length !== parts.length) return;
    for (const [at, code] of codes.entries()) {
      const difference = this.#difference(invocation, { parts, at, code, zxid });
      if (difference !== null)
        this.#fail(reply, isMulti ? `part ${at}: ${difference}` : difference);
      // What follows was not looked at.
      if (code !== ErrorCode.ok) return;
    }
    if (result.error === ErrorCode.ok) this.#compareAcls(reply, parts);
  }

  #difference({ users = NOBODY }: Invocation, { parts, at, code, zxid }: Decided): string | null {
    const part = parts[at];
    if (part === undefined) return null;
    const acl = this.#aclBefore(parts, at, { users, zxid });
    const isRefused = code === ErrorCode.noAuth;
    if (acl === null) return isRefused ? 'refused, by a znode that does not exist' : null;
    const isPermitted = needsOf(part).every((perm) => permits(acl, users, perm));
    if (isPermitted) return isRefused ? `refused, and ${textOfAcl(acl)} permits it` : null;
    return FOUND_BEFORE.has(code) ? null : `answered ${code}, and ${textOfAcl(acl)} forbids it`;
  }

  /** Null if the znode that decides does not exist at that point. */
  #aclBefore(
    parts: readonly Single[],
    at: number,
    { users, zxid }: { readonly users: readonly string[]; readonly zxid: number },
  ): readonly AclEntry[] | null {
    const part = parts[at];
    if (part === undefined) return null;
    const path = decidesOn(part);
    for (let before = at - 1; before >= 0; before--) {
      const earlier = parts[before];
      if (earlier?.path !== path) continue;
      if (earlier.kind === 'delete') return null;
      if (earlier.kind === 'create') return storedAcl(earlier.grants, users);
    }
    const state = this.#tree.known(path)?.at(zxid - 1);
    return state?.exists === true ? state.acl : null;
  }

  #compareAcls(reply: Reply, parts: readonly Single[]): void {
    const { invocation, result } = reply;
    const { users = NOBODY } = invocation;
    const { results = [] } = this.#tree.commitAt(result.zxid) ?? {};
    for (const [at, part] of parts.entries()) {
      const state = results[at];
      if (state == null || (part.kind !== 'create' && part.kind !== 'setAcl')) continue;
      const stored = storedAcl(part.grants, users);
      const meant = part.kind === 'create' ? stored : [...stored, markOf(part.acl)];
      if (hasSameEntries(state.acl, meant)) continue;
      this.#fail(reply, `stored ${textOfAcl(state.acl)} and not ${textOfAcl(meant)}`);
    }
  }

  #fail({ invocation, result, order }: Reply, what: string): never {
    const who = (invocation.users ?? NOBODY).join(' and ') || 'nobody known';
    const where = `at ${formatZxid(result.zxid)} [${order}]`;
    throw new PropertyBroken(this.property, `${asked(invocation)} as ${who}, was ${where} ${what}`);
  }
}

interface Decided {
  readonly parts: readonly Single[];
  readonly at: number;
  readonly code: number;
  readonly zxid: number;
}

function decidesOn(part: Single): string {
  return part.kind === 'create' || part.kind === 'delete' ? parentOf(part.path) : part.path;
}

/** All of them are necessary. */
function needsOf(part: Single): readonly number[] {
  switch (part.kind) {
    case 'create':
      return [Perms.create];
    case 'delete':
      return [Perms.delete];
    case 'set':
      return [Perms.write];
    case 'setAcl':
      return [Perms.admin];
    case 'check':
      return [Perms.read];
    case 'raise':
      return [Perms.create, Perms.delete];
    default:
      return unreachable(part);
  }
}

/** The entry by which a setACL is known. */
export function markOf(acl: string): AclEntry {
  return { perms: Perms.all, scheme: 'digest', id: aclIdOf(acl) };
}

export const newPermissions: NewPart = (tree) => new Permissions(tree);
