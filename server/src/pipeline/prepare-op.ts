/**
 * Checks one operation against the overlay and returns its decided form, or the code of its error.
 *
 * The order of the checks is the contract: clients and their tests rely on which error wins. The
 * changes of an operation that has passed them are in the overlay afterwards. Called by Prepare,
 * both for single requests and for each operation of a multi.
 */
import {
  type CreateRequest,
  depthOf,
  ErrorCode,
  nameOf,
  type PathVersionRequest,
  Perms,
  parentOf,
  type SetAclRequest,
  type SetDataRequest,
  validatePath,
} from '@rookery/protocol';
import { NAME_CHARS_MAX } from '../state/node-store.js';
import type { CreateView, SetDataView, WithPath } from '../state/op-view.js';
import type { NodeOp, SessionId } from '../state/txn.js';
import { sequenceSuffix } from '../state/versions.js';
import { mayDo, type Requester } from './access.js';
import { legalAcl, type ProvenScheme } from './acl-form.js';
import { type AskedMode, createModeOf } from './create-mode.js';
import { LOCAL_SESSION } from './local-sessions.js';
import type { NodeView } from './node-view.js';
import type { Overlay } from './overlay.js';
import type { QuotaGuard } from './quota-guard.js';
import type { TreeRoom } from './tree-room.js';

/** Nobody may delete these. */
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

/** What an operation is decided with besides the overlay: the client that asks, and the rules. */
export interface DecisionContext extends Requester {
  readonly session: SessionId;
  readonly opcode: number;
  /** Whether TTL nodes may be created. */
  readonly extendedTypes: boolean;
  /** The number of ephemerals that one session may own. */
  readonly ephemeralsMax: number;
  /** The number of segments that the path of a created znode may have. */
  readonly pathDepthMax: number;
  /** The schemes of `WriteRules`. */
  readonly aclSchemes?: ReadonlySet<ProvenScheme> | undefined;
  readonly quotas: QuotaGuard;
  /** Whether the tree may grow by what the operation adds. */
  readonly treeRoom: TreeRoom;
}

export function decideCreate(
  overlay: Overlay,
  context: DecisionContext,
  request: CreateRequest & AskedMode,
): Decision {
  const { path, data } = request;
  const created = createModeOf(context.opcode, request, context.extendedTypes);
  if (typeof created === 'number') return created;
  if (created.mode === 'ephemeral' && context.session === LOCAL_SESSION) {
    return ErrorCode.ephemeralOnLocalSession;
  }
  if (!overlay.sessions.isLive(context.session)) return ErrorCode.sessionExpired;
  if (!path.includes('/') || path.includes('\0')) return ErrorCode.badArguments;
  const acl = legalAcl(request.acl, context.identities, context.aclSchemes);
  if (acl === null) return ErrorCode.invalidAcl;
  const parent = overlay.node(parentOf(path));
  if (!parent.exists) return ErrorCode.noNode;
  if (!mayDo(context, parent.acl, Perms.create)) return ErrorCode.noAuth;
  const full = created.sequential ? path + sequenceSuffix(parent.creates) : path;
  if (validatePath(full) !== null) return ErrorCode.badArguments;
  // With the largest frames that can be configured, a name could be longer than a znode has room
  // for.
  if (nameOf(full).length > NAME_CHARS_MAX) return ErrorCode.badArguments;
  if (depthOf(full) > context.pathDepthMax) return ErrorCode.badArguments;
  if (overlay.node(full).exists) return ErrorCode.nodeExists;
  if (parent.owner !== 0) return ErrorCode.noChildrenForEphemerals;
  if (created.mode === 'ephemeral' && hasTooMany(overlay, context)) {
    return ErrorCode.quotaExceeded;
  }
  const dataBytes = data === null ? 0 : data.length;
  if (context.quotas.refuses({ path: full }, { count: 1, bytes: dataBytes })) {
    return ErrorCode.quotaExceeded;
  }
  if (context.treeRoom.refusesCreate({ path: full }, dataBytes, acl)) {
    return ErrorCode.quotaExceeded;
  }
  const { mode, ttlMs } = created;
  const owner = mode === 'ephemeral' ? context.session : 0;
  overlay.create(full, parent, { owner, acl, dataBytes });
  return {
    kind: 'create',
    path: full,
    data,
    acl,
    mode,
    ttlMs,
    opcode: context.opcode,
  };
}

/** What is in flight counts: otherwise a client that does not wait for answers passes the limit. */
function hasTooMany(overlay: Overlay, { session, ephemeralsMax }: DecisionContext): boolean {
  return overlay.ephemeralsOwned(session) >= ephemeralsMax;
}

/**
 * Like decideCreate, for a plain create in place (`Overlay.locateCreate`): its path is legal, and
 * the znode does not exist.
 */
export function decideCreateView(
  overlay: Overlay,
  context: DecisionContext,
  request: CreateView,
): Decision {
  if (!overlay.sessions.isLive(context.session)) return ErrorCode.sessionExpired;
  const parent = overlay.parentAt(request);
  if (!mayDo(context, parent.acl, Perms.create)) return ErrorCode.noAuth;
  if (request.depth > context.pathDepthMax) return ErrorCode.badArguments;
  const dataBytes = Math.max(0, request.dataBytes);
  if (context.quotas.refuses(request, { count: 1, bytes: dataBytes })) {
    return ErrorCode.quotaExceeded;
  }
  if (context.treeRoom.refusesCreate(request, dataBytes, null)) return ErrorCode.quotaExceeded;
  return overlay.createView(request, parent);
}

export function decideDelete(
  overlay: Overlay,
  context: DecisionContext,
  request: PathVersionRequest,
): Decision {
  const { path, version } = request;
  if (!overlay.sessions.isLive(context.session)) return ErrorCode.sessionExpired;
  if (!path.includes('/') || path.includes('\0')) return ErrorCode.badArguments;
  if (SPECIAL_PATHS.has(path)) return ErrorCode.badArguments;
  const parent = overlay.node(parentOf(path));
  if (!parent.exists) return ErrorCode.noNode;
  if (!mayDo(context, parent.acl, Perms.delete)) return ErrorCode.noAuth;
  const node = overlay.node(path);
  if (!node.exists) return ErrorCode.noNode;
  if (version !== ANY_VERSION && version !== node.version) return ErrorCode.badVersion;
  if (overlay.hasChildren(path)) return ErrorCode.notEmpty;
  context.treeRoom.deletes(request, node.dataBytes);
  overlay.delete(path);
  return { kind: 'delete', path };
}

export function decideSetData(
  overlay: Overlay,
  context: DecisionContext,
  request: SetDataRequest,
): Decision {
  const { path, data, version } = request;
  if (!overlay.sessions.isLive(context.session)) return ErrorCode.sessionExpired;
  if (validatePath(path) !== null) return ErrorCode.badArguments;
  const node = overlay.node(path);
  if (!node.exists) return ErrorCode.noNode;
  if (path === CONFIG_PATH) return ErrorCode.noAuth;
  const dataBytes = data === null ? 0 : data.length;
  const error = errorOfSetData(context, node, { request, dataBytes, version });
  if (error !== null) return error;
  return { kind: 'setData', path, data, version: overlay.setData(path, node, dataBytes) };
}

/** Like decideSetData, for a request in place (`Overlay.locate`): its znode exists. */
export function decideSetDataView(
  overlay: Overlay,
  context: DecisionContext,
  request: SetDataView,
): Decision {
  if (!overlay.sessions.isLive(context.session)) return ErrorCode.sessionExpired;
  const node = overlay.nodeAt(request);
  const { dataBytes, version } = request;
  const asked = { request, dataBytes: Math.max(0, dataBytes), version };
  return errorOfSetData(context, node, asked) ?? overlay.setDataView(request, node);
}

/**
 * Checks the client that asks, and the znode as it will be once everything in flight is applied.
 */
function errorOfSetData(
  context: DecisionContext,
  node: NodeView,
  asked: { readonly request: WithPath; readonly dataBytes: number; readonly version: number },
): ErrorCode | null {
  const { request, dataBytes, version } = asked;
  if (!mayDo(context, node.acl, Perms.write)) return ErrorCode.noAuth;
  if (context.quotas.refuses(request, { count: 0, bytes: dataBytes - node.dataBytes })) {
    return ErrorCode.quotaExceeded;
  }
  if (version !== ANY_VERSION && version !== node.version) return ErrorCode.badVersion;
  const { treeRoom } = context;
  const isRefused = treeRoom.refusesData(request, node.dataBytes, dataBytes);
  return isRefused ? ErrorCode.quotaExceeded : null;
}

export function decideSetAcl(
  overlay: Overlay,
  context: DecisionContext,
  request: SetAclRequest,
): Decision {
  const { path, version } = request;
  if (!overlay.sessions.isLive(context.session)) return ErrorCode.sessionExpired;
  if (validatePath(path) !== null) return ErrorCode.badArguments;
  const acl = legalAcl(request.acl, context.identities, context.aclSchemes);
  if (acl === null) return ErrorCode.invalidAcl;
  const node = overlay.node(path);
  if (!node.exists) return ErrorCode.noNode;
  if (!mayDo(context, node.acl, Perms.admin)) return ErrorCode.noAuth;
  if (version !== ANY_VERSION && version !== node.aversion) return ErrorCode.badVersion;
  if (context.treeRoom.refusesAcl(acl)) return ErrorCode.quotaExceeded;
  return { kind: 'setAcl', path, acl, version: overlay.setAcl(path, node, acl) };
}

export function decideCheck(
  overlay: Overlay,
  context: DecisionContext,
  request: PathVersionRequest,
): Decision {
  const { path, version } = request;
  if (!overlay.sessions.isLive(context.session)) return ErrorCode.sessionExpired;
  if (validatePath(path) !== null) return ErrorCode.badArguments;
  const node = overlay.node(path);
  if (!node.exists) return ErrorCode.noNode;
  if (!mayDo(context, node.acl, Perms.read)) return ErrorCode.noAuth;
  if (version !== ANY_VERSION && version !== node.version) return ErrorCode.badVersion;
  return { kind: 'check', path };
}
