/**
 * Computes the events that a server sends to a client that reconnects with its watches: the changes
 * since the zxid that the client saw last, as far as the znodes still show them. Only for tests.
 */
import { EventType, OpCode, unreachable, type WatcherEvent } from '@rookery/protocol';
import type { RearmRequest } from '../watches/rearm.js';
import type { FakeServer } from './fake-server.js';

/** Persistent watches are not caught up; they receive 'resync'. */
export function caughtUp(server: FakeServer, requests: readonly RearmRequest[]): WatcherEvent[] {
  return requests.flatMap(({ opcode, request }) => {
    const since = BigInt(request.relativeZxid);
    switch (opcode) {
      case OpCode.setWatches:
      case OpCode.setWatches2:
        return [
          ...changes(request.dataWatches, (path) => dataChange(server, path, since)),
          ...changes(request.existWatches, (path) =>
            server.stat(path) === null ? null : EventType.created,
          ),
          ...changes(request.childWatches, (path) => childChange(server, path, since)),
        ];
      default:
        return unreachable(opcode);
    }
  });
}

function changes(
  paths: readonly string[],
  changeOf: (path: string) => EventType | null,
): WatcherEvent[] {
  return paths.flatMap((path) => {
    const type = changeOf(path);
    return type === null ? [] : [{ type, state: 3, path }];
  });
}

function dataChange(server: FakeServer, path: string, zxid: bigint): EventType | null {
  const stat = server.stat(path);
  if (stat === null) return EventType.deleted;
  return stat.mzxid > zxid ? EventType.dataChanged : null;
}

function childChange(server: FakeServer, path: string, zxid: bigint): EventType | null {
  const stat = server.stat(path);
  if (stat === null) return EventType.deleted;
  return stat.pzxid > zxid ? EventType.childrenChanged : null;
}
