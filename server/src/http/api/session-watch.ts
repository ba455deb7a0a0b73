/**
 * Watches znodes of a member in a client session of the caller, which ends with the watch.
 */
import {
  AddWatchMode,
  AddWatchRequest,
  EventType,
  encode,
  OpCode,
  type WatcherEvent,
} from '@rookery/protocol';
import { prefixedHex } from '../../net/four-letter/format.js';
import type { ApiMember } from './api-member.js';
import { DataSession } from './data-session.js';
import { readableNode, requireServing } from './member-nodes.js';
import { keeperProblem } from './problem.js';
import type { Change, OpenWatch } from './watch-route.js';

const PING_MS = 8_000;

const KINDS: ReadonlyMap<number, Change['kind']> = new Map([
  [EventType.created, 'created'],
  [EventType.deleted, 'deleted'],
  [EventType.dataChanged, 'dataChanged'],
  [EventType.childrenChanged, 'childrenChanged'],
]);

export function sessionWatches(member: ApiMember): OpenWatch {
  return async ({ path, isRecursive, caller }, hearing) => {
    requireServing(member);
    readableNode(member.state, path, caller.requester);
    const open = member.openStream.bind(member);
    const session = await DataSession.open(open, caller, {
      onEvent: ({ type, path: changed }: WatcherEvent, zxid) => {
        const kind = KINDS.get(type);
        if (kind !== undefined) hearing.onChange({ kind, path: changed, zxid: prefixedHex(zxid) });
      },
      onEnd: () => hearing.onEnd(),
    });
    const mode = isRecursive ? AddWatchMode.persistentRecursive : AddWatchMode.persistent;
    const body = encode(AddWatchRequest, { path, mode });
    const { error } = await session.request(OpCode.addWatch, body);
    if (error !== 0) {
      session.end();
      throw keeperProblem(error, { path });
    }
    const timer = setInterval(() => session.ping(), PING_MS);
    return () => {
      clearInterval(timer);
      session.end();
    };
  };
}
