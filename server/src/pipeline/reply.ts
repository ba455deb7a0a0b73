/**
 * Writes the frames of replies and of watch events. A reply has one of two forms: a header with a
 * body, or a header with an error and no body.
 * A multi that failed is the exception: its header has error 0, and the errors are in its body.
 *
 * It also writes the whole reply to a sync.
 */
import {
  decode,
  ErrorCode,
  type JuteWriter,
  KeeperState,
  MarshallingError,
  PathRequest,
  putLong,
  ReplyHeader,
  WATCH_XID,
  WatcherEvent,
  type Zxid,
} from '@rookery/protocol';

/** xid, zxid and error. */
const HEADER_BYTES = 16;

/** The caller writes the body and ends the frame. */
export function beginReply(writer: JuteWriter, xid: number, zxid: Zxid): void {
  writeHeader(writer, xid, zxid, ErrorCode.ok);
}

/** Written in one step, because it begins every answer. */
function writeHeader(writer: JuteWriter, xid: number, zxid: Zxid, code: number): void {
  writer.beginFrame();
  const at = writer.claim(HEADER_BYTES);
  const { view } = writer;
  view.setInt32(at, xid);
  putLong(view, at + 4, zxid);
  view.setInt32(at + 12, code);
}

export function writeError(
  writer: JuteWriter,
  reply: { readonly xid: number; readonly zxid: number; readonly code: number },
): void {
  writeHeader(writer, reply.xid, reply.zxid, reply.code);
  writer.endFrame();
}

/** `body` is the request's, because the answer repeats its path. */
export function writeSyncReply(
  writer: JuteWriter,
  reply: { readonly xid: number; readonly zxid: Zxid; readonly body: Uint8Array },
): void {
  const { xid, zxid, body } = reply;
  const path = pathOfSync(body);
  if (path === null) return writeError(writer, { xid, zxid, code: ErrorCode.marshallingError });
  beginReply(writer, xid, zxid);
  writer.string(path);
  writer.endFrame();
}

function pathOfSync(body: Uint8Array): string | null {
  try {
    return decode(PathRequest, body).path;
  } catch (error) {
    if (!(error instanceof MarshallingError)) throw error;
    return null;
  }
}

/** The zxid of an event that reports a missed change. */
export const CATCH_UP_ZXID = -1;

/**
 * Writes the frame of a watch event.
 *
 * `zxid` is that of the transaction that triggered it (ZOOKEEPER-4655), or CATCH_UP_ZXID.
 */
interface WatchEvent {
  readonly zxid: number;
  readonly type: number;
  readonly path: string;
}

/** Returns how many bytes it has. */
export function writeEvent(writer: JuteWriter, event: WatchEvent): number {
  const { zxid, type, path } = event;
  const before = writer.length;
  writer.beginFrame();
  ReplyHeader.write(writer, { xid: WATCH_XID, zxid, error: ErrorCode.ok });
  WatcherEvent.write(writer, { type, state: KeeperState.syncConnected, path });
  writer.endFrame();
  return writer.length - before;
}
