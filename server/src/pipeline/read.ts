/**
 * Reads: the reply to every request that this member answers from its own state.
 *
 * A reply is written where the read runs, so it shows exactly the changes whose events are already
 * in the connection's output. It sets the watch that a read requests; if there is no room for it,
 * the answer is only the error -1, which every client knows. A malformed body is noticed before
 * anything is written or set, and answered with an error, too. Called by Requests.
 */
import {
  AclList,
  ErrorCode,
  ErrorResponse,
  type JuteReader,
  MarshallingError,
  OpCode,
  PathRequest,
  Perms,
  readString,
  SetWatches2Request,
  SetWatchesRequest,
  WhoAmIResponse,
} from '@rookery/protocol';
import { NO_NODE } from '../state/tree.js';
import type { Acl } from '../state/txn.js';
import type { WatchKind } from '../state/watches.js';
import { mayDo } from './access.js';
import { clientInfoOf } from './identities.js';
import { PATH_BYTES_MAX } from './path-bound.js';
import { isListable, mayRead, type ReadScene } from './read-scene.js';
import { beginReply, writeError } from './reply.js';
import { runSpecialRead } from './special-reads.js';
import { catchUp, catchUpWithPersistent } from './watch-requests.js';

export interface ReadHeader {
  readonly xid: number;
  readonly opcode: number;
}

/**
 * `body` is at the record after the header. Returns false if nothing is answered and the connection
 * must end, because there is no room for all watches that the client had elsewhere.
 */
export function runRead(scene: ReadScene, header: ReadHeader, body: JuteReader): boolean {
  try {
    if (header.opcode === OpCode.setWatches || header.opcode === OpCode.setWatches2) {
      return readMissed(scene, header, body);
    }
    runPlainRead(scene, header, body);
  } catch (error) {
    if (!(error instanceof MarshallingError)) throw error;
    const { state, channel } = scene;
    const { xid } = header;
    writeError(channel.writer, { xid, zxid: state.lastZxid, code: ErrorCode.marshallingError });
  }
  return true;
}

/** Runs a part of a setWatches that is not its last: nothing is answered. Returns as `runRead`. */
export function runWatchesPart(scene: ReadScene, opcode: number, body: JuteReader): boolean {
  return opcode === OpCode.setWatches
    ? catchUp(scene, SetWatchesRequest.read(body))
    : catchUpWithPersistent(scene, SetWatches2Request.read(body));
}

function readMissed(scene: ReadScene, { xid, opcode }: ReadHeader, body: JuteReader): boolean {
  if (!runWatchesPart(scene, opcode, body)) return false;
  const { writer } = scene.channel;
  beginReply(writer, xid, scene.state.lastZxid);
  writer.endFrame();
  return true;
}

function runPlainRead(scene: ReadScene, header: ReadHeader, body: JuteReader): void {
  const { xid, opcode } = header;
  const { state } = scene;
  const { writer } = scene.channel;
  switch (opcode) {
    case OpCode.getData:
    case OpCode.exists:
    case OpCode.getChildren:
    case OpCode.getChildren2:
      return readNode(scene, header, body);
    case OpCode.getAcl:
      return readAcl(scene, xid, PathRequest.read(body).path);
    case OpCode.ping:
      beginReply(writer, xid, state.lastZxid);
      return writer.endFrame();
    case OpCode.whoAmI:
      beginReply(writer, xid, state.lastZxid);
      WhoAmIResponse.write(writer, { clientInfo: clientInfoOf(scene.requester.identities) });
      return writer.endFrame();
    case OpCode.auth:
      // The body is the outcome; ZooKeeper answers with zxid 0.
      return writeError(writer, { xid, zxid: 0, code: ErrorResponse.read(body).error });
    default:
      return runSpecialRead(scene, header, body);
  }
}

/** The body is a PathWatchRequest; its path becomes a string only where that is needed. */
function readNode(scene: ReadScene, header: ReadHeader, body: JuteReader): void {
  const { xid, opcode } = header;
  const { state } = scene;
  const start = body.position;
  const pathBytes = body.skipBuffer();
  if (pathBytes === -1) throw new MarshallingError('a path is null');
  const end = body.position;
  const watch = body.bool();
  const { writer } = scene.channel;
  const zxid = state.lastZxid;
  const node = state.tree.findBytes(body.view, end - pathBytes, end);
  if (node === NO_NODE && opcode === OpCode.exists && pathAt(body, start).includes('\0')) {
    return writeError(writer, { xid, zxid, code: ErrorCode.badArguments });
  }
  if (node !== NO_NODE && !mayRead(scene, node)) {
    return writeError(writer, { xid, zxid, code: ErrorCode.noAuth });
  }
  if (node !== NO_NODE && listsChildren(opcode) && !isListable(state.tree, node)) {
    // Not -127, which would invite a retry.
    return writeError(writer, { xid, zxid, code: ErrorCode.quotaExceeded });
  }
  // Only exists watches a znode that does not exist.
  const watches = watch && (node !== NO_NODE || opcode === OpCode.exists);
  if (watches && node === NO_NODE && pathBytes > PATH_BYTES_MAX) {
    return writeError(writer, { xid, zxid, code: ErrorCode.badArguments });
  }
  if (watches && !scene.watches.add(watchKindOf(opcode), pathAt(body, start), scene.watcher)) {
    return writeError(writer, { xid, zxid, code: ErrorCode.systemError });
  }
  if (node === NO_NODE) return writeError(writer, { xid, zxid, code: ErrorCode.noNode });
  beginReply(writer, xid, zxid);
  writeNode(scene, header, node);
  writer.endFrame();
}

function pathAt(body: JuteReader, position: number): string {
  body.position = position;
  return readString(body);
}

function watchKindOf(opcode: number): WatchKind {
  return listsChildren(opcode) ? 'child' : 'data';
}

function listsChildren(opcode: number): boolean {
  return opcode === OpCode.getChildren || opcode === OpCode.getChildren2;
}

function writeNode({ state, channel }: ReadScene, { opcode }: ReadHeader, node: number): void {
  const { tree } = state;
  const { writer } = channel;
  if (opcode === OpCode.getData) tree.writeData(node, writer);
  if (listsChildren(opcode)) tree.writeChildren(node, writer);
  if (opcode !== OpCode.getChildren) tree.writeStat(node, writer);
}

/**
 * getACL: the list of a znode, for whoever may read or administer it.
 *
 * A client that may not administer it does not see the digests, from which a password could be
 * guessed.
 */
function readAcl(scene: ReadScene, xid: number, path: string): void {
  const { requester, state } = scene;
  const { writer } = scene.channel;
  const zxid = state.lastZxid;
  const node = state.tree.find(path);
  if (node === NO_NODE) return writeError(writer, { xid, zxid, code: ErrorCode.noNode });
  const acl = state.tree.acl(node);
  if (!mayDo(requester, acl, Perms.read | Perms.admin)) {
    return writeError(writer, { xid, zxid, code: ErrorCode.noAuth });
  }
  beginReply(writer, xid, zxid);
  AclList.write(writer, mayDo(requester, acl, Perms.admin) ? acl : acl.map(masked));
  state.tree.writeStat(node, writer);
  writer.endFrame();
}

function masked(acl: Acl): Acl {
  if (acl.scheme !== 'digest') return acl;
  return { ...acl, id: acl.id.replace(/:.*/s, ':x') };
}
