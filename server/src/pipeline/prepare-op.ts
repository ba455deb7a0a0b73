/**
 * Checks one operation against the overlay and returns its decided form, or the code of its error.
 *
 * The order of the checks is the contract: clients and their tests rely on which error wins. The
 * changes of an operation that has passed them are in the overlay afterwards. Called by
 * TxnPreparer, both for single requests and for each operation of a multi.
 */
import {
  CreateFlag,
  ErrorCode,
  type Int64,
  isCreateFlag,
  isEphemeralFlag,
  isSequentialFlag,
  isTtlFlag,
  MarshallingError,
  OpCode,
  type PathVersionRequest,
  Perms,
  type RaiseSequenceRequest,
  SEQUENCE_MAX,
  type SetAclRequest,
  TTL_MAX_MS,
  validatePath,
} from '@rookery/protocol';
import { parentViewOf, pathViewOf } from '../state/memory/path-view.js';
import { CONFIG_NODE } from '../state/node-record.js';
import type { CreateView, SetDataView } from '../state/op-view.js';
import type { NodeMode, NodeOp, RaiseSequenceOp, SessionId } from '../state/txn.js';
import { sequenceSuffix } from '../state/txn.js';
import { mayDo, type Requester } from './access.js';
import { legalAcl, type ProvenScheme } from './acl-form.js';
import { LOCAL_SESSION } from './local-sessions.js';
import type { Overlay } from './overlay.js';
import { PATH_BYTES_MAX } from './path-bound.js';
import type { QuotaGuard, TreeRoom } from './write-room.js';

/** Nobody may delete these. */
const SPECIAL_PATHS: ReadonlySet<string> = new Set([
  '/',
  '/zookeeper',
  '/zookeeper/quota',
  '/zookeeper/config',
]);

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

export function decideCreate(overlay: Overlay, context: DecisionContext, op: CreateView): Decision {
  const created = createModeOf(context.opcode, op, context.extendedTypes);
  if (typeof created === 'number') return created;
  if (created.mode === 'ephemeral' && context.session === LOCAL_SESSION) {
    return ErrorCode.ephemeralOnLocalSession;
  }
  if (!overlay.sessions.isLive(context.session)) return ErrorCode.sessionExpired;
  if (op.pathBytes > PATH_BYTES_MAX) return ErrorCode.badArguments;
  if (!op.isPlain && !mayHaveParent(op.path)) return ErrorCode.badArguments;
  const acl = legalAcl(op.askedAcl, context.identities, context.aclSchemes);
  if (acl === null) return ErrorCode.invalidAcl;
  const parent = overlay.at(parentViewOf(op));
  if (!parent.exists) return ErrorCode.noNode;
  if (!mayDo(context, parent.acl, Perms.create)) return ErrorCode.noAuth;
  if (created.sequential) op.setPath(op.path + sequenceSuffix(parent.creates));
  if (!op.isPlain && validatePath(op.path) !== null) return ErrorCode.badArguments;
  // With its number it may have become longer than it was.
  if (op.pathBytes > PATH_BYTES_MAX) return ErrorCode.badArguments;
  if (op.depth > context.pathDepthMax) return ErrorCode.badArguments;
  const znode = overlay.at(op);
  if (znode.exists) return ErrorCode.nodeExists;
  if (parent.owner !== 0) return ErrorCode.noChildrenForEphemerals;
  if (created.mode === 'ephemeral' && hasTooMany(overlay, context)) {
    return ErrorCode.quotaExceeded;
  }
  const dataBytes = Math.max(0, op.dataBytes);
  if (context.quotas.refuses(op, { count: 1, bytes: dataBytes })) return ErrorCode.quotaExceeded;
  if (context.treeRoom.refusesCreate(op, dataBytes, acl)) return ErrorCode.quotaExceeded;
  op.acl = acl;
  op.mode = created.mode;
  op.ttlMs = created.ttlMs;
  op.opcode = context.opcode;
  const owner = created.mode === 'ephemeral' ? context.session : 0;
  overlay.create(znode, parent, { owner, acl, dataBytes });
  return op;
}

/** Whether the path is legal enough to be judged after the ACL and the parent. */
function mayHaveParent(path: string): boolean {
  return path.includes('/') && !path.includes('\0');
}

/** What is in flight counts: otherwise a client that does not wait for answers passes the limit. */
function hasTooMany(overlay: Overlay, { session, ephemeralsMax }: DecisionContext): boolean {
  return overlay.ephemeralsOwned(session) >= ephemeralsMax;
}

export function decideDelete(
  overlay: Overlay,
  context: DecisionContext,
  request: PathVersionRequest,
): Decision {
  const { path, version } = request;
  if (!overlay.sessions.isLive(context.session)) return ErrorCode.sessionExpired;
  if (!mayHaveParent(path)) return ErrorCode.badArguments;
  if (SPECIAL_PATHS.has(path)) return ErrorCode.badArguments;
  const at = pathViewOf(path);
  const parent = overlay.at(parentViewOf(at));
  if (!parent.exists) return ErrorCode.noNode;
  if (!mayDo(context, parent.acl, Perms.delete)) return ErrorCode.noAuth;
  const node = overlay.at(at);
  if (!node.exists) return ErrorCode.noNode;
  if (version !== ANY_VERSION && version !== node.version) return ErrorCode.badVersion;
  if (overlay.hasChildren(at)) return ErrorCode.notEmpty;
  context.treeRoom.deletes(request, node.dataBytes);
  overlay.delete(at, node, parent);
  return { kind: 'delete', path };
}

export function decideSetData(
  overlay: Overlay,
  context: DecisionContext,
  op: SetDataView,
): Decision {
  if (!overlay.sessions.isLive(context.session)) return ErrorCode.sessionExpired;
  const node = overlay.at(op);
  // A path that is not legal is that of no znode.
  if (!node.exists) {
    return validatePath(op.path) === null ? ErrorCode.noNode : ErrorCode.badArguments;
  }
  // Its data is each member's own configuration, so nobody writes it, not even the super user.
  if (op.node === CONFIG_NODE) return ErrorCode.noAuth;
  if (!mayDo(context, node.acl, Perms.write)) return ErrorCode.noAuth;
  const dataBytes = Math.max(0, op.dataBytes);
  if (context.quotas.refuses(op, { count: 0, bytes: dataBytes - node.dataBytes })) {
    return ErrorCode.quotaExceeded;
  }
  if (op.expected !== ANY_VERSION && op.expected !== node.version) return ErrorCode.badVersion;
  if (context.treeRoom.refusesData(op, node.dataBytes, dataBytes)) return ErrorCode.quotaExceeded;
  op.version = overlay.setData(node, dataBytes);
  return op;
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
  const at = pathViewOf(path);
  const node = overlay.at(at);
  if (!node.exists) return ErrorCode.noNode;
  if (!mayDo(context, node.acl, Perms.admin)) return ErrorCode.noAuth;
  if (version !== ANY_VERSION && version !== node.aversion) return ErrorCode.badVersion;
  if (context.treeRoom.refusesAcl(acl)) return ErrorCode.quotaExceeded;
  return { kind: 'setAcl', path, acl, version: overlay.setAcl(node, acl) };
}

/**
 * Requires CREATE and DELETE, as creating and deleting children does, which also raises the number.
 * With CREATE only, a client cannot use up numbers without leaving children behind.
 */
export function decideRaiseSequence(
  overlay: Overlay,
  context: DecisionContext,
  request: RaiseSequenceRequest,
): RaiseSequenceOp | ErrorCode {
  const { path, atLeast } = request;
  if (!overlay.sessions.isLive(context.session)) return ErrorCode.sessionExpired;
  if (validatePath(path) !== null) return ErrorCode.badArguments;
  if (atLeast < 0 || atLeast > SEQUENCE_MAX) return ErrorCode.badArguments;
  const node = overlay.at(pathViewOf(path));
  if (!node.exists) return ErrorCode.noNode;
  if (!mayDo(context, node.acl, Perms.create)) return ErrorCode.noAuth;
  if (!mayDo(context, node.acl, Perms.delete)) return ErrorCode.noAuth;
  if (node.owner !== 0) return ErrorCode.noChildrenForEphemerals;
  // It frees no space and can be repeated without end.
  if (context.treeRoom.refusesForDisk()) return ErrorCode.quotaExceeded;
  return { kind: 'raiseSequence', path, creates: overlay.raiseSequence(node, atLeast) };
}

export function decideCheck(
  overlay: Overlay,
  context: DecisionContext,
  request: PathVersionRequest,
): Decision {
  const { path, version } = request;
  if (!overlay.sessions.isLive(context.session)) return ErrorCode.sessionExpired;
  if (validatePath(path) !== null) return ErrorCode.badArguments;
  const node = overlay.at(pathViewOf(path));
  if (!node.exists) return ErrorCode.noNode;
  if (!mayDo(context, node.acl, Perms.read)) return ErrorCode.noAuth;
  if (version !== ANY_VERSION && version !== node.version) return ErrorCode.badVersion;
  return { kind: 'check', path };
}

/**
 * Determines what kind of znode a create makes, from its opcode, its flags and its time to live.
 *
 * The opcode makes a container or a TTL node, not the flag. Inside a multi it is the other way
 * round, because ZooKeeper derives the opcode from the flag there. Called by prepare-op and
 * prepare.
 */
interface CreateMode {
  readonly mode: NodeMode;
  readonly sequential: boolean;
  /** 0 except for the mode ttl. */
  readonly ttlMs: number;
}

interface AskedMode {
  readonly flags: number;
  /** Only createTtl has it; otherwise 0. */
  readonly askedTtlMs: Int64;
}

/** Returns the mode, or an error code as the first check of a create. */
function createModeOf(
  opcode: number,
  asked: AskedMode,
  extendedTypes: boolean,
): CreateMode | ErrorCode {
  const { flags } = asked;
  if (!isCreateFlag(flags)) return ErrorCode.badArguments;
  if (isTtlFlag(flags) && !extendedTypes) return ErrorCode.unimplemented;
  if (isTtlFlag(flags) !== (opcode === OpCode.createTtl)) return ErrorCode.badArguments;
  const sequential = isSequentialFlag(flags);
  if (opcode === OpCode.createTtl) {
    const ttlMs = Number(asked.askedTtlMs);
    if (!(ttlMs >= 1 && ttlMs <= TTL_MAX_MS)) return ErrorCode.badArguments;
    return { mode: 'ttl', sequential, ttlMs };
  }
  if (opcode === OpCode.createContainer) return { mode: 'container', sequential, ttlMs: 0 };
  return { mode: isEphemeralFlag(flags) ? 'ephemeral' : 'persistent', sequential, ttlMs: 0 };
}

/**
 * The opcode of a create within a multi. Throws MarshallingError for a TTL flag without a time to
 * live: ZooKeeper finds that out only when it reaches the operation, so an earlier error wins.
 */
export function multiCreateOpcode(opcode: number, flags: number): number {
  if (flags === CreateFlag.container) return OpCode.createContainer;
  if (!isCreateFlag(flags) || !isTtlFlag(flags)) return OpCode.create;
  if (opcode === OpCode.createTtl) return opcode;
  throw new MarshallingError(`operation ${opcode} of a multi has no time to live`);
}
