/**
 * The checks of one operation against the overlay: its decided form, or the code of its error.
 *
 * The order of the checks is the contract: clients and their tests rely on which error wins. An
 * operation that passes has changed the overlay. Called by Prepare, for single requests and for
 * each operation of a multi alike.
 */
import {
  type CreateRequest,
  ErrorCode,
  isCreateFlag,
  isEphemeralFlag,
  isSequentialFlag,
  isTtlFlag,
  type PathVersionRequest,
  Perms,
  parentOf,
  type SetAclRequest,
  type SetDataRequest,
  validatePath,
} from '@rookery/protocol';
import type { NodeOp, SessionId } from '../state/txn.js';
import { sequenceSuffix } from '../state/versions.js';
import { mayDo, type Requester as Principal } from './access.js';
import { legalAcl } from './acl-form.js';
import type { Overlay } from './overlay.js';

/** Not to be deleted by anyone. */
const SPECIAL_PATHS: ReadonlySet<string> = new Set([
  '/',
  '/zookeeper',
  '/zookeeper/quota',
  '/zookeeper/config',
]);

/** Its data is each member's own configuration, so nobody writes it, not even the super user. */
const CONFIG_PATH = '/zookeeper/config';

const ANY_VERSION = -1;

/** An operation that was decided, or the code of its error. */
export type Decision = NodeOp | ErrorCode;

export interface Requester extends Principal {
  readonly session: SessionId;
  readonly opcode: number;
}

export function decideCreate(
  overlay: Overlay,
  requester: Requester,
  request: CreateRequest,
): Decision {
  const { path, flags } = request;
  if (!isCreateFlag(flags) || isTtlFlag(flags)) return ErrorCode.badArguments;
  if (!overlay.isLive(requester.session)) return ErrorCode.sessionExpired;
  if (!path.includes('/') || path.includes('\0')) return ErrorCode.badArguments;
  const acl = legalAcl(request.acl, requester.identities);
  if (acl === null) return ErrorCode.invalidAcl;
  const parent = overlay.node(parentOf(path));
  if (!parent.exists) return ErrorCode.noNode;
  if (!mayDo(requester, parent.acl, Perms.create)) return ErrorCode.noAuth;
  const full = isSequentialFlag(flags) ? path + sequenceSuffix(parent.creates) : path;
  if (validatePath(full) !== null) return ErrorCode.badArguments;
  if (overlay.node(full).exists) return ErrorCode.nodeExists;
  if (parent.owner !== 0) return ErrorCode.noChildrenForEphemerals;
  const ephemeral = isEphemeralFlag(flags);
  overlay.create(full, { owner: ephemeral ? requester.session : 0, acl });
  return {
    kind: 'create',
    path: full,
    data: request.data,
    acl,
    mode: ephemeral ? 'ephemeral' : 'persistent',
    ttlMs: 0,
    opcode: requester.opcode,
  };
}

export function decideDelete(
  overlay: Overlay,
  requester: Requester,
  request: PathVersionRequest,
): Decision {
  const { path, version } = request;
  if (!overlay.isLive(requester.session)) return ErrorCode.sessionExpired;
  if (!path.includes('/') || path.includes('\0')) return ErrorCode.badArguments;
  if (SPECIAL_PATHS.has(path)) return ErrorCode.badArguments;
  const parent = overlay.node(parentOf(path));
  if (!parent.exists) return ErrorCode.noNode;
  if (!mayDo(requester, parent.acl, Perms.delete)) return ErrorCode.noAuth;
  const node = overlay.node(path);
  if (!node.exists) return ErrorCode.noNode;
  if (version !== ANY_VERSION && version !== node.version) return ErrorCode.badVersion;
  if (node.childCount > 0) return ErrorCode.notEmpty;
  overlay.delete(path);
  return { kind: 'delete', path };
}

export function decideSetData(
  overlay: Overlay,
  requester: Requester,
  request: SetDataRequest,
): Decision {
  const { path, data, version } = request;
  if (!overlay.isLive(requester.session)) return ErrorCode.sessionExpired;
  if (validatePath(path) !== null) return ErrorCode.badArguments;
  const node = overlay.node(path);
  if (!node.exists) return ErrorCode.noNode;
  if (path === CONFIG_PATH) return ErrorCode.noAuth;
  if (!mayDo(requester, node.acl, Perms.write)) return ErrorCode.noAuth;
  if (version !== ANY_VERSION && version !== node.version) return ErrorCode.badVersion;
  return { kind: 'setData', path, data, version: overlay.setData(path) };
}

export function decideSetAcl(
  overlay: Overlay,
  requester: Requester,
  request: SetAclRequest,
): Decision {
  const { path, version } = request;
  if (!overlay.isLive(requester.session)) return ErrorCode.sessionExpired;
  if (validatePath(path) !== null) return ErrorCode.badArguments;
  const acl = legalAcl(request.acl, requester.identities);
  if (acl === null) return ErrorCode.invalidAcl;
  const node = overlay.node(path);
  if (!node.exists) return ErrorCode.noNode;
  if (!mayDo(requester, node.acl, Perms.admin)) return ErrorCode.noAuth;
  if (version !== ANY_VERSION && version !== node.aversion) return ErrorCode.badVersion;
  return { kind: 'setAcl', path, acl, version: overlay.setAcl(path, acl) };
}

export function decideCheck(
  overlay: Overlay,
  requester: Requester,
  request: PathVersionRequest,
): Decision {
  const { path, version } = request;
  if (!overlay.isLive(requester.session)) return ErrorCode.sessionExpired;
  if (validatePath(path) !== null) return ErrorCode.badArguments;
  const node = overlay.node(path);
  if (!node.exists) return ErrorCode.noNode;
  if (!mayDo(requester, node.acl, Perms.read)) return ErrorCode.noAuth;
  if (version !== ANY_VERSION && version !== node.version) return ErrorCode.badVersion;
  return { kind: 'check', path };
}
