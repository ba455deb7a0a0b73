/**
 * The requests that register watches again on a new connection: setWatches, or setWatches2 if there
 * are persistent watches, which servers before 3.6 do not know.
 *
 * They are split into several requests, because a single one with all paths may exceed the server's
 * limit for a frame. The server would then end this connection and each one after it
 * (ZOOKEEPER-706). Computes only. Called by the watch registry.
 */
import {
  OpCode,
  type SetWatches2Request,
  type SetWatchesRequest,
  toInt64,
} from '@rookery/protocol';

/** The limit of the Java client, well below the 1 MiB that a server accepts by default. */
export const REARM_PATH_BYTES_MAX = 128 * 1024;

export type RearmRequest =
  | { readonly opcode: typeof OpCode.setWatches; readonly request: SetWatchesRequest }
  | { readonly opcode: typeof OpCode.setWatches2; readonly request: SetWatches2Request };

export interface StandingPaths {
  readonly data: Iterable<string>;
  readonly exist: Iterable<string>;
  readonly child: Iterable<string>;
  readonly persistent: Iterable<string>;
  readonly recursive: Iterable<string>;
}

/**
 * Each request has at least one path, and at most `pathBytesMax` bytes of paths, including 4 bytes
 * for the length of each, unless a single path is longer. The server at once reports what has
 * changed since `lastZxidSeen` at the paths of one-shot watches.
 */
export function rearmRequests(
  standing: StandingPaths,
  lastZxidSeen: bigint,
  pathBytesMax: number,
): RearmRequest[] {
  const requests: RearmRequest[] = [];
  let chunk = new Chunk();
  for (const list of LISTS) {
    for (const path of standing[list]) {
      const bytes = 4 + Buffer.byteLength(path);
      if (chunk.bytes > 0 && chunk.bytes + bytes > pathBytesMax) {
        requests.push(chunk.toRequest(lastZxidSeen));
        chunk = new Chunk();
      }
      chunk.paths[list].push(path);
      chunk.bytes += bytes;
    }
  }
  if (chunk.bytes > 0) requests.push(chunk.toRequest(lastZxidSeen));
  return requests;
}

const LISTS = ['data', 'exist', 'child', 'persistent', 'recursive'] as const;

class Chunk {
  readonly paths: Record<(typeof LISTS)[number], string[]> = {
    data: [],
    exist: [],
    child: [],
    persistent: [],
    recursive: [],
  };
  bytes = 0;

  toRequest(lastZxidSeen: bigint): RearmRequest {
    const { data, exist, child, persistent, recursive } = this.paths;
    const classic = {
      relativeZxid: toInt64(lastZxidSeen),
      dataWatches: data,
      existWatches: exist,
      childWatches: child,
    };
    if (persistent.length === 0 && recursive.length === 0) {
      return { opcode: OpCode.setWatches, request: classic };
    }
    return {
      opcode: OpCode.setWatches2,
      request: {
        ...classic,
        persistentWatches: persistent,
        persistentRecursiveWatches: recursive,
      },
    };
  }
}
