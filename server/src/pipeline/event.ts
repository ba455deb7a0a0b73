/**
 * Writes the frame of a watch event, and decides who receives it: whoever may read the znode.
 */
import {
  ErrorCode,
  type JuteWriter,
  KeeperState,
  Perms,
  ReplyHeader,
  WATCH_XID,
  WatcherEvent,
} from '@rookery/protocol';
import { mayDo } from './access.js';
import type { GuardedEvent } from './apply.js';
import type { Connection } from './connection.js';

/** The zxid of an event that reports a missed change. */
export const CATCH_UP_ZXID = -1;

/** `zxid` is that of the transaction that triggered it (ZOOKEEPER-4655), or CATCH_UP_ZXID. */
export interface WatchEvent {
  readonly zxid: number;
  readonly type: number;
  readonly path: string;
}

/** Notifies the watcher of the change, unless the ACL forbids it. */
export function tellWatcher(connection: Connection, event: GuardedEvent, zxid: number): void {
  const { requester, channel } = connection;
  const { type, path, acl } = event;
  if (!mayDo(requester, acl, Perms.read)) return;
  channel.stats.sentEvent(writeEvent(channel.writer, { zxid, type, path }));
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
