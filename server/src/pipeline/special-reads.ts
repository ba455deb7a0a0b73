/**
 * The less common reads: several at once, counts, ephemerals, pages, watches by request, SASL.
 *
 * As in read.ts, what is malformed throws MarshallingError before anything is written or set.
 * Called by read.
 */
import {
  AddWatchRequest,
  ErrorCode,
  ErrorResponse,
  GetAllChildrenNumberResponse,
  GetChildrenPageRequest,
  GetChildrenPageResponse,
  GetEphemeralsRequest,
  GetEphemeralsResponse,
  type JuteReader,
  type MultiReadRequestOp,
  MultiReadResponse,
  type MultiReadResult,
  OpCode,
  PathRequest,
  readMultiReadOps,
  SaslRequest,
  SaslResponse,
  WatchesRequest,
} from '@rookery/protocol';
import { ephemeralPaths } from '../state/ephemerals.js';
import { NO_NODE, type Tree } from '../state/tree.js';
import { entriesToJudge } from './access.js';
import { mayRead, type ReadScene } from './read-scene.js';
import { beginReply, writeError } from './reply.js';
import { addWatch, checkWatches, removeWatches } from './watch-requests.js';

/** The zxid in the answer to an unknown operation. */
const NO_ZXID = -1;

/** What one answer may list of a session's ephemerals, and the characters of their paths. */
const EPHEMERALS_LISTED_MAX = 1 << 15;
const EPHEMERALS_BYTES_MAX = 4 << 20;

/** The names of one page as jute strings: far less than what any client takes as a frame. */
const PAGE_BYTES_MAX = 256 << 10;

/**
 * In a multiRead, reads beyond this many bytes of answers are answered -127, which says that they
 * may be asked again: a frame of reads of one large znode would otherwise be answered with more
 * than any memory holds. A single read beyond the bound is answered -125.
 */
const MULTI_READ_BYTES_MAX = 8 << 20;
/**
 * In a multiRead, reads beyond this much work are answered -127, too. Work is counted in names of
 * children, entries of long ACLs and identities examined, and this much takes 10 to 20 ms:
 * everything is answered in one turn, so that it shows the state of one zxid. A read that is more
 * work by itself is answered -125, because asking again does not help. The names count only where
 * the client may read them, because these answers show how many there are.
 */
const MULTI_READ_WORK_MAX = 1 << 15;
/**
 * The work of finding a znode and of judging a short ACL: as many reads as a request may contain
 * stay below the bound, except for long ACLs.
 */
const FIND_WORK = 4;
/**
 * An operation that failed takes the type, the header and the code; others take the header and a
 * Stat.
 */
const ERROR_BYTES = 13;
const RESULT_BYTES = 80;

export function runSpecialRead(
  scene: ReadScene,
  header: { readonly xid: number; readonly opcode: number },
  body: JuteReader,
): void {
  const { xid, opcode } = header;
  switch (opcode) {
    case OpCode.multiRead:
      return readMany(scene, xid, readMultiReadOps(body, scene.multiOpsMax));
    case OpCode.getEphemerals:
      return readEphemerals(scene, xid, GetEphemeralsRequest.read(body).prefixPath);
    case OpCode.getAllChildrenNumber:
      return countDescendants(scene, xid, PathRequest.read(body).path);
    case OpCode.getChildrenPage:
      return readPage(scene, xid, GetChildrenPageRequest.read(body));
    case OpCode.addWatch:
      return answerAddWatch(scene, xid, addWatch(scene, AddWatchRequest.read(body)));
    case OpCode.checkWatches:
      return answer(scene, xid, checkWatches(scene, WatchesRequest.read(body)));
    case OpCode.removeWatches:
      return answer(scene, xid, removeWatches(scene, WatchesRequest.read(body)));
    case OpCode.sasl:
      return answerSasl(scene, xid, SaslRequest.read(body));
    default:
      // An unknown operation.
      return writeError(scene.channel.writer, {
        xid,
        zxid: NO_ZXID,
        code: ErrorCode.unimplemented,
      });
  }
}

function readMany(scene: ReadScene, xid: number, ops: readonly MultiReadRequestOp[]): void {
  if (ops.length > scene.multiOpsMax) return answer(scene, xid, ErrorCode.badArguments);
  let bytes = 0;
  let work = 0;
  const throttled = { opcode: OpCode.error, error: ErrorCode.throttledOp } as const;
  const tooLarge = { opcode: OpCode.error, error: ErrorCode.quotaExceeded } as const;
  const results = ops.map((op): MultiReadResult => {
    if (bytes > MULTI_READ_BYTES_MAX || work > MULTI_READ_WORK_MAX) return throttled;
    const { node, refused, work: own } = judged(scene, op);
    if (own > MULTI_READ_WORK_MAX) return tooLarge;
    work += own;
    if (work > MULTI_READ_WORK_MAX) return throttled;
    const size = refused === ErrorCode.ok ? sizeOf(scene.state.tree, op, node) : ERROR_BYTES;
    if (size > MULTI_READ_BYTES_MAX) return tooLarge;
    bytes += size;
    if (bytes > MULTI_READ_BYTES_MAX) return throttled;
    if (refused !== ErrorCode.ok) return { opcode: OpCode.error, error: refused };
    return readOne(scene.state.tree, op, node);
  });
  const { writer } = scene.channel;
  beginReply(writer, xid, scene.state.lastZxid);
  MultiReadResponse.write(writer, { results });
  writer.endFrame();
}

/** The bytes of the result in the answer, computed before the result is made. */
function sizeOf(tree: Tree, { opcode }: MultiReadRequestOp, node: number): number {
  const bytes = opcode === OpCode.getData ? tree.dataLength(node) : tree.listedBytes(node);
  return RESULT_BYTES + bytes;
}

/** Whether the client may read it, and the work of judging that and then of listing it. */
function judged(scene: ReadScene, { opcode, request }: MultiReadRequestOp) {
  const { requester, state } = scene;
  const { tree } = state;
  const node = tree.find(request.path);
  if (node === NO_NODE) return { node, refused: ErrorCode.noNode, work: FIND_WORK };
  const entries = entriesToJudge(requester, tree.acl(node));
  const work = FIND_WORK + entries + requester.identities.length;
  const refused = refusal(scene, node);
  const isListed = refused === ErrorCode.ok && opcode === OpCode.getChildren;
  return { node, refused, work: isListed ? work + tree.childCount(node) : work };
}

/** The watch flag does not count here. */
function readOne(tree: Tree, { opcode }: MultiReadRequestOp, node: number): MultiReadResult {
  return opcode === OpCode.getData
    ? { opcode, data: tree.data(node), stat: tree.stat(node) }
    : { opcode, children: tree.children(node) };
}

/**
 * A session may own a million ephemerals. One that owns more than an answer may list is answered
 * -125, whatever the prefix: searching for the few that have it would take as long as listing all.
 * -127 would say that the trouble passes, and clients would repeat the request.
 */
function readEphemerals(scene: ReadScene, xid: number, prefix: string): void {
  const { tree } = scene.state;
  const isShort = tree.ephemeralsOwned(scene.session) <= EPHEMERALS_LISTED_MAX;
  const all = isShort ? ephemeralPaths(tree, scene.session, EPHEMERALS_BYTES_MAX) : null;
  if (all === null) return answer(scene, xid, ErrorCode.quotaExceeded);
  // A prefix of characters, not of segments; blank and / stand for all.
  const wanted = prefix.trim();
  const ephemerals =
    wanted === '' || wanted === '/' ? all : all.filter((path) => path.startsWith(prefix));
  const { writer } = scene.channel;
  beginReply(writer, xid, scene.state.lastZxid);
  GetEphemeralsResponse.write(writer, { ephemerals });
  writer.endFrame();
}

function countDescendants(scene: ReadScene, xid: number, path: string): void {
  const { tree } = scene.state;
  const node = tree.find(path);
  const refused = refusal(scene, node);
  if (refused !== ErrorCode.ok) return answer(scene, xid, refused);
  const { writer } = scene.channel;
  beginReply(writer, xid, scene.state.lastZxid);
  GetAllChildrenNumberResponse.write(writer, { totalNumber: tree.descendantCount(node) });
  writer.endFrame();
}

function readPage(scene: ReadScene, xid: number, request: GetChildrenPageRequest): void {
  const { path, startAfter, limit, watch } = request;
  const { tree } = scene.state;
  if (limit < 1) return answer(scene, xid, ErrorCode.badArguments);
  const node = tree.find(path);
  const refused = refusal(scene, node);
  if (refused !== ErrorCode.ok) return answer(scene, xid, refused);
  if (watch && !scene.watches.add('child', path, scene.watcher)) {
    return answer(scene, xid, ErrorCode.systemError);
  }
  const page = tree.childPage(node, { startAfter, limit, bytesMax: PAGE_BYTES_MAX });
  const { writer } = scene.channel;
  beginReply(writer, xid, scene.state.lastZxid);
  const { names: children, more } = page;
  GetChildrenPageResponse.write(writer, { children, stat: tree.stat(node), more });
  writer.endFrame();
}

/**
 * Nobody here can negotiate: this is the answer that ZooKeeper without SASL gives, zxid 0 included.
 */
function answerSasl(scene: ReadScene, xid: number, _request: SaslRequest): void {
  const { writer } = scene.channel;
  beginReply(writer, xid, 0);
  SaslResponse.write(writer, { token: null });
  writer.endFrame();
}

function answerAddWatch(scene: ReadScene, xid: number, code: ErrorCode): void {
  if (code !== ErrorCode.ok) return answer(scene, xid, code);
  const { writer } = scene.channel;
  beginReply(writer, xid, scene.state.lastZxid);
  ErrorResponse.write(writer, { error: ErrorCode.ok });
  writer.endFrame();
}

function answer(scene: ReadScene, xid: number, code: ErrorCode): void {
  writeError(scene.channel.writer, { xid, zxid: scene.state.lastZxid, code });
}

/** `ok` if the node exists and may be read. */
function refusal(scene: ReadScene, node: number): ErrorCode {
  if (node === NO_NODE) return ErrorCode.noNode;
  return mayRead(scene, node) ? ErrorCode.ok : ErrorCode.noAuth;
}
