// Replays the exchanges that were recorded from ZooKeeper 3.8.0, in their order and on the same
// connections, and compares each reply, with zxids, times, session ids, passwords and the order of
// lists masked.
import { readFileSync } from 'node:fs';
import {
  ConnectRequest,
  ConnectResponse,
  decode,
  GetAclResponse,
  type Int64,
  JuteReader,
  MultiResponse,
  OpCode,
  operationOf,
  ReplyHeader,
  RequestHeader,
  WATCH_XID,
  WatcherEvent,
} from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { digestOf } from '../config/digest-of.js';
import type { TestClient } from '../simulated/pipeline/test-client.js';
import { TestEnsemble } from '../simulated/pipeline/test-ensemble.js';

interface Vector {
  readonly name: string;
  readonly request: string;
  readonly response: readonly string[];
  readonly closed?: boolean;
}

/** The exchanges from here on were recorded on the second connection. */
const SECOND_FROM = 'getData: no auth';

const file = new URL('../../../test/vectors/wire-vectors.jsonl', import.meta.url);
const vectors: readonly Vector[] = readFileSync(file, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));

const MASKED = new Set(['zxid', 'czxid', 'mzxid', 'pzxid', 'ctime', 'mtime']);

const UNORDERED = new Set(['children', 'clientInfo', 'ephemerals']);

/** A plain value in which everything that may differ is masked. */
function mask(value: unknown, key = ''): unknown {
  if (MASKED.has(key)) return 'masked';
  if (key === 'ephemeralOwner' || key === 'sessionId') return value === 0 ? 0 : 'a session';
  if (key === 'password') return Buffer.from(value as Uint8Array).some(Boolean) ? 16 : 0;
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString('hex')}`;
  if (Array.isArray(value)) {
    const list = value.map((one) => mask(one));
    return UNORDERED.has(key) ? list.sort() : list;
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => [name, mask(inner, name)]);
  return Object.fromEntries(entries);
}

function readReply(frame: Uint8Array, opcode: number): unknown {
  const reader = new JuteReader(frame);
  const header = ReplyHeader.read(reader);
  if (header.xid === WATCH_XID) return mask({ ...header, event: WatcherEvent.read(reader) });
  if (header.error !== 0) return mask({ ...header, left: reader.remaining });
  if (opcode === OpCode.multi) return mask({ ...header, body: MultiResponse.read(reader) });
  if (opcode === OpCode.getAcl) return mask({ ...header, body: GetAclResponse.read(reader) });
  const body = operationOf(opcode)?.response.read(reader);
  return mask({ ...header, body, left: reader.remaining });
}

class Replay {
  readonly ensemble = new TestEnsemble({ digestOf });
  readonly #clients: TestClient[] = [];
  /** The sessions here that stand for those of the recording. */
  readonly #sessions = new Map<Int64, { sessionId: Int64; password: Uint8Array }>();
  #current: TestClient | undefined;

  run(vector: Vector): void {
    const request = Buffer.from(vector.request, 'hex');
    if (/^(connect|resume)/.test(vector.name)) return this.#connect(vector, request);
    if (vector.name === SECOND_FROM) this.#current = this.#clients[1];
    const client = this.#current;
    if (client === undefined) throw new Error('a connection is open');
    client.sendFrame(request);
    this.ensemble.settle();
    const { type } = decode(RequestHeader, request);
    const frames = client.takeFrames().map((frame) => readReply(frame, type));
    const recorded = vector.response.map((hex) => readReply(Buffer.from(hex, 'hex'), type));
    expect(frames).toEqual(recorded);
    expect(client.state !== 'open').toBe(vector.closed === true);
  }

  #connect(vector: Vector, bytes: Uint8Array): void {
    const recorded = decode(ConnectRequest, bytes);
    const known = this.#sessions.get(recorded.sessionId);
    const before = this.#clients[0];
    const client = this.ensemble.open();
    this.#clients.push(client);
    client.connect({ ...recorded, ...known });
    this.ensemble.settle();
    const expected = vector.response.map((hex) => decode(ConnectResponse, Buffer.from(hex, 'hex')));
    const got = client.takeFrames().map((frame) => decode(ConnectResponse, frame));
    expect(got.map((one) => mask(one))).toEqual(expected.map((one) => mask(one)));
    expect(client.state !== 'open').toBe(vector.closed === true);
    if (known !== undefined) expect(before?.state).toBe('ended');
    const [ours] = got;
    const [theirs] = expected;
    if (known === undefined && ours?.password && theirs) {
      this.#sessions.set(theirs.sessionId, { sessionId: ours.sessionId, password: ours.password });
    }
    // The second connection was opened early and used late.
    if (this.#clients.length !== 2) this.#current = client;
  }
}

describe('the exchanges recorded from ZooKeeper 3.8.0', () => {
  const replay = new Replay();
  for (const vector of vectors) {
    it(vector.name, () => replay.run(vector));
  }
});
