/**
 * Finds the paths that this member's clients read and write most, and the sessions that ask most.
 *
 * It costs nothing unless an operator looks: requests are watched from the first question on, until
 * none has come for a while. Meanwhile one request in `every` is looked at, each counts that
 * many times, and `every` follows the load, so that a member spends a hundredth of its time on it
 * at most. The distances between them vary, so that a periodic load does not bias the sample. A
 * report covers the last 5 to 10 seconds. Owned by Pipeline, which
 * passes requests only while `isWatching`; nothing is decided by it.
 */
import {
  type JuteReader,
  MarshallingError,
  OpCode,
  readMultiOps,
  readMultiReadOps,
} from '@rookery/protocol';
import { HeavyHitters } from '../measures/heavy-hitters.js';
import type { SessionId } from '../state/txn.js';

/** How long requests are watched after the last question. */
export const WATCHED_MS = 30_000;
const WINDOW_MS = 5_000;
/** A path with more than this part of the reads is certainly told. */
const COUNTERS = 256;
/** After so many looks between two ticks, `every` is doubled. */
const LOOKS_PER_TICK = 256;
const EVERY_MAX = 1 << 20;

export interface HotKey<Key> {
  readonly key: Key;
  /** At least so many in `spanMs`, as far as the requests that were looked at stand for others. */
  readonly count: number;
}

interface HotList<Key> {
  /** All of them in `spanMs`, also those of keys that are not listed. */
  readonly total: number;
  /** The greatest first. */
  readonly keys: readonly HotKey<Key>[];
}

export interface HotReport {
  /** The time that it covers; 0 when watching has just begun. */
  readonly spanMs: number;
  /** One request in so many is looked at. */
  readonly every: number;
  readonly reads: HotList<string>;
  readonly writes: HotList<string>;
  readonly sessions: HotList<SessionId>;
}

class Span {
  readonly sinceMs: number;
  readonly reads = new HeavyHitters<string>(COUNTERS);
  readonly writes = new HeavyHitters<string>(COUNTERS);
  readonly sessions = new HeavyHitters<SessionId>(COUNTERS);

  constructor(sinceMs: number) {
    this.sinceMs = sinceMs;
  }
}

export class HotRequests {
  /** Whether requests are to be passed. */
  isWatching = false;
  /** The current span, behind the one before it. */
  #spans: readonly Span[] = [];
  #askedMs = 0;
  #every = 1;
  /** The weight of the next request that is looked at, and how many come until it does. */
  #weight = 1;
  #untilNext = 1;
  /** The looks since the last tick. */
  #looks = 0;
  #random = 1;

  /** What was asked most lately, at most `limit` of each kind. Requests are watched from now on. */
  look(nowMs: number, limit: number): HotReport {
    this.#askedMs = nowMs;
    if (!this.isWatching) this.#begin(nowMs);
    const spans = this.#spans;
    const sinceMs = spans[0]?.sinceMs ?? nowMs;
    const list = <Key extends string | number>(of: (span: Span) => HeavyHitters<Key>) =>
      listOf(spans.map(of), limit);
    return {
      spanMs: Math.max(0, nowMs - sinceMs),
      every: this.#every,
      reads: list(({ reads }) => reads),
      writes: list(({ writes }) => writes),
      sessions: list(({ sessions }) => sessions),
    };
  }

  onTick(nowMs: number): void {
    if (!this.isWatching) return;
    if (nowMs - this.#askedMs >= WATCHED_MS) return this.#end();
    const current = this.#spans.at(-1);
    if (current !== undefined && nowMs - current.sinceMs >= WINDOW_MS) {
      this.#spans = [current, new Span(nowMs)];
    }
    // The next load may be a small one, of which each request can be looked at.
    if (this.#looks < LOOKS_PER_TICK / 4) this.#every = Math.max(1, this.#every / 2);
    this.#looks = 0;
  }

  /** A request of a session whose frame is at its header, where it is left. */
  onRequest(session: SessionId, frame: JuteReader): void {
    this.#untilNext -= 1;
    if (this.#untilNext > 0) return;
    const { position } = frame;
    frame.int();
    const opcode = frame.int();
    if (opcode !== OpCode.ping) this.#count(session, opcode, frame);
    frame.position = position;
    this.#plan();
  }

  #count(session: SessionId, opcode: number, body: JuteReader): void {
    const current = this.#spans.at(-1);
    if (current === undefined) return;
    const weight = this.#weight;
    current.sessions.record(session, weight);
    const paths = tellPaths(opcode, body, (path, use) => {
      const list = use === 'read' ? current.reads : current.writes;
      list.record(path, weight);
    });
    this.#looks += 1 + paths;
    if (this.#looks < LOOKS_PER_TICK) return;
    // From now on so many requests take half as many looks.
    this.#looks = LOOKS_PER_TICK / 2;
    this.#every = Math.min(EVERY_MAX, 2 * this.#every);
  }

  /** Requests that are looked at are `every` apart on average. */
  #plan(): void {
    this.#weight = this.#every;
    // A linear congruential generator, whose upper bits are the better ones.
    this.#random = (Math.imul(this.#random, 1_664_525) + 1_013_904_223) >>> 0;
    const share = this.#random / 2 ** 32;
    this.#untilNext = 1 + Math.floor(share * (2 * this.#every - 1));
  }

  #begin(nowMs: number): void {
    this.isWatching = true;
    this.#spans = [new Span(nowMs)];
    this.#every = 1;
    this.#looks = 0;
    this.#plan();
  }

  #end(): void {
    this.isWatching = false;
    this.#spans = [];
  }
}

function listOf<Key extends string | number>(
  sketches: readonly HeavyHitters<Key>[],
  limit: number,
): HotList<Key> {
  const counts = new Map<Key, number>();
  for (const sketch of sketches) {
    for (const { key, atLeast } of sketch.hitters()) {
      counts.set(key, (counts.get(key) ?? 0) + atLeast);
    }
  }
  const keys = [...counts].map(([key, count]) => ({ key, count }));
  keys.sort((a, b) => b.count - a.count);
  const total = sketches.reduce((sum, sketch) => sum + sketch.total, 0);
  return { total, keys: keys.slice(0, limit) };
}

/** Whether a request reads or changes the znode that it names. */
type PathUse = 'read' | 'write';

/** Longer paths are cut, in bytes; those with the same beginning count as one. */
const PATH_BYTES_MAX = 256;
/** The operations of one multi that are looked at. */
const OPS_MAX = 64;

const USES: ReadonlyMap<number, PathUse> = new Map([
  [OpCode.exists, 'read'],
  [OpCode.getData, 'read'],
  [OpCode.getAcl, 'read'],
  [OpCode.getChildren, 'read'],
  [OpCode.getChildren2, 'read'],
  [OpCode.getAllChildrenNumber, 'read'],
  [OpCode.getChildrenPage, 'read'],
  [OpCode.addWatch, 'read'],
  [OpCode.check, 'read'],
  [OpCode.create, 'write'],
  [OpCode.create2, 'write'],
  [OpCode.createContainer, 'write'],
  [OpCode.createTtl, 'write'],
  [OpCode.delete, 'write'],
  [OpCode.setData, 'write'],
  [OpCode.setAcl, 'write'],
  [OpCode.raiseSequence, 'write'],
]);

/**
 * The znodes that a request names, for measures only. A single path is read from the frame without
 * decoding what follows it; multis are decoded. A malformed request names nothing here, and is
 * judged elsewhere.
 *
 * Tells `onPath` the paths of a request whose body is the rest of `reader`, and returns their
 * number. Leaves the reader at any place; never throws.
 */
export function tellPaths(
  opcode: number,
  reader: JuteReader,
  onPath: (path: string, use: PathUse) => void,
): number {
  try {
    switch (opcode) {
      case OpCode.multi:
        return tellEach(readMultiOps(reader, OPS_MAX), onPath);
      case OpCode.multiRead:
        return tellEach(readMultiReadOps(reader, OPS_MAX), onPath);
      default: {
        const use = USES.get(opcode);
        if (use === undefined) return 0;
        onPath(firstPath(reader), use);
        return 1;
      }
    }
  } catch (error) {
    if (!(error instanceof MarshallingError)) throw error;
    return 0;
  }
}

function tellEach(
  ops: readonly { readonly opcode: number; readonly request: { readonly path: string } }[],
  onPath: (path: string, use: PathUse) => void,
): number {
  for (const { opcode, request } of ops) {
    const bytes = Buffer.from(request.path);
    onPath(pathIn(bytes, 0, bytes.length), USES.get(opcode) ?? 'read');
  }
  return ops.length;
}

/** Every request for one znode begins with its path. */
function firstPath(reader: JuteReader): string {
  const length = reader.skipBuffer();
  return pathIn(reader.bytes, reader.position - Math.max(0, length), reader.position);
}

function pathIn(bytes: Buffer, start: number, end: number): string {
  if (end - start <= PATH_BYTES_MAX) return bytes.toString('utf8', start, end);
  let cut = start + PATH_BYTES_MAX;
  // Not within a character.
  while (((bytes[cut] ?? 0) & 0xc0) === 0x80 && cut > start) cut -= 1;
  return `${bytes.toString('utf8', start, cut)}…`;
}
