/** Writes the frame of a watch event. */
import {
  ErrorCode,
  type JuteWriter,
  KeeperState,
  ReplyHeader,
  WATCH_XID,
  WatcherEvent,
} from '@rookery/protocol';

/** The zxid of an event that reports a missed change. */
export const CATCH_UP_ZXID = -1;

/** `zxid` is that of the transaction that triggered it (ZOOKEEPER-4655), or CATCH_UP_ZXID. */
export interface WatchEvent {
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
