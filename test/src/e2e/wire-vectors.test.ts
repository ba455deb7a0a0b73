/**
 * The exchanges recorded from ZooKeeper 3.8.0, replayed against a running member.
 *
 * Every reply must equal the recorded one, frame by frame and in order, but for what cannot be the
 * same twice. Exchanges that need what is not served yet are left out by name; a create among them
 * is replaced by a plain create of its path, so that counts and suffixes agree later.
 */
import {
  ConnectRequest,
  ConnectResponse,
  CreateFlag,
  type CreateRequest,
  decode,
  encode,
  type Int64,
  int,
  JuteReader,
  MultiRequest,
  type MultiRequestOp,
  OpCode,
  Perms,
  ReplyHeader,
  RequestHeader,
} from '@rookery/protocol';
import { expect, it, onTestFinished } from 'vitest';
import { useServingEnsemble } from '../harness/ensemble.js';
import { productUnderTest } from '../harness/product.js';
import { RawConnection } from '../harness/raw-connection.js';
import {
  describeReply,
  type Exchange,
  isConnect,
  isEvent,
  readVectors,
} from '../harness/vectors.js';

/** What is not served yet; the list is empty once everything is. */
const UNSERVED = new Set([
  'createContainer',
  'createTTL',
  'createTTL sequential',
  'createTTL: ttl 0',
  'multi: container and ttl',
  'multiRead: getData, getChildren, missing',
  'addWatch persistent',
  'addWatch recursive',
  'addWatch: bad mode',
  'checkWatches: present',
  'checkWatches: absent',
  'removeWatches any',
  'removeWatches: absent',
  'setWatches2',
  'getEphemerals',
  'getAllChildrenNumber',
  'whoAmI before auth',
  'auth digest',
  'whoAmI after auth',
  'create with auth scheme acl',
  'getACL of it',
  'getData: no auth',
  'setData: no auth',
  'auth: unknown scheme',
]);

/** Their replies count, but the events before them are those of a persistent watch. */
const UNSERVED_EVENTS = new Set([
  'create under persistent watch',
  'create child under persistent watch',
  'create under recursive watch',
  'create child under recursive watch',
]);

/** Creates that stand in for unserved ones: path, data, flags. */
const REPLACEMENTS: ReadonlyMap<string, readonly [string, string, number][]> = new Map([
  ['createContainer', [['/cont', '', CreateFlag.persistent]]],
  ['createTTL', [['/ttl', 't', CreateFlag.persistent]]],
  ['createTTL sequential', [['/ttl-', 't', CreateFlag.persistentSequential]]],
  [
    'multi: container and ttl',
    [
      ['/mc', '', CreateFlag.persistent],
      ['/mt', '', CreateFlag.persistent],
    ],
  ],
  ['create with auth scheme acl', [['/mine', 'x', CreateFlag.persistent]]],
]);

/** Recorded on a second connection without credentials, while the first one stayed open. */
const ON_SECOND_CONNECTION = new Set([
  'getData: no auth',
  'setData: no auth',
  'malformed body: truncated create',
  'unknown opcode 77',
]);

it.each(['leader', 'follower'])(
  'a %s answers every recorded exchange as ZooKeeper 3.8.0 did',
  async (role) => {
    const ensemble = await useServingEnsemble({ tickTimeMs: 2_000 });
    const [follower] = await ensemble.followers();
    const member = role === 'leader' ? await ensemble.leader() : follower;
    if (member === undefined) throw new Error('there is no follower');
    const replay = new Replay(member.clientPort);
    onTestFinished(() => replay.close());
    for (const exchange of readVectors()) await replay.run(exchange);
    if (replay.skipped.length > 0) console.log(`not served yet: ${replay.skipped.join(', ')}`);
  },
);

class Replay {
  readonly skipped: string[] = [];
  readonly #port: number;
  readonly #connections: RawConnection[] = [];
  /** What this member gave out for each recorded session id. */
  readonly #sessions = new Map<Int64, ConnectResponse>();
  #first: RawConnection | undefined;
  #latest: RawConnection | undefined;

  constructor(port: number) {
    this.#port = port;
  }

  async run(exchange: Exchange): Promise<void> {
    if (isConnect(exchange)) return await this.#connect(exchange);
    const connection = this.#connectionFor(exchange);
    if (productUnderTest().name === 'rookery' && UNSERVED.has(exchange.name)) {
      this.skipped.push(exchange.name);
      return await this.#replace(exchange, connection);
    }
    connection.sendFrame(exchange.request);
    await this.#expectReplies(exchange, connection);
  }

  close(): void {
    for (const connection of this.#connections) connection.destroy();
  }

  async #connect(exchange: Exchange): Promise<void> {
    const connection = await RawConnection.open(this.#port);
    this.#connections.push(connection);
    const request = decode(ConnectRequest, exchange.request);
    const known = request.sessionId === 0 ? undefined : this.#sessions.get(request.sessionId);
    const { sessionId, password } = known ?? request;
    connection.sendFrame(encode(ConnectRequest, { ...request, sessionId, password }));
    const [first] = await this.#expectReplies(exchange, connection);
    const [recorded] = exchange.responses;
    if (known !== undefined) await this.#first?.ended;
    if (first === undefined || recorded === undefined) return;
    this.#sessions.set(decode(ConnectResponse, recorded).sessionId, decode(ConnectResponse, first));
    if (this.#first === undefined || known !== undefined) this.#first = connection;
    this.#latest = connection;
  }

  /** After the second connect everything goes on over the first, until that is resumed. */
  #connectionFor(exchange: Exchange): RawConnection {
    const second = this.#connections[1];
    const isEarly = this.#connections.length === 2;
    const early = ON_SECOND_CONNECTION.has(exchange.name) ? second : this.#first;
    const connection = isEarly ? early : this.#latest;
    if (connection === undefined) throw new Error(`${exchange.name} comes before any connect`);
    return connection;
  }

  async #expectReplies(exchange: Exchange, connection: RawConnection): Promise<Uint8Array[]> {
    const frames: Uint8Array[] = [];
    const { name, responses } = exchange;
    const withoutEvents = productUnderTest().name === 'rookery' && UNSERVED_EVENTS.has(name);
    for (const recorded of responses.filter((frame) => !withoutEvents || !isEvent(frame))) {
      const frame = await connection.nextFrame();
      if (frame === undefined) throw new Error(`${name}: the connection ended, a reply is missing`);
      expect(describeReply(exchange, frame), name).toEqual(describeReply(exchange, recorded));
      frames.push(frame);
    }
    if (exchange.closed) {
      expect(await connection.nextFrame(), `${name}: closed behind the reply`).toBeUndefined();
    }
    return frames;
  }

  async #replace(exchange: Exchange, connection: RawConnection): Promise<void> {
    const creates = REPLACEMENTS.get(exchange.name);
    if (creates === undefined) return;
    const acl = [{ perms: Perms.all, scheme: 'world', id: 'anyone' }];
    const requests = creates.map(([path, data, flags]): CreateRequest => {
      return { path, data: Buffer.from(data), acl, flags };
    });
    const xid = new JuteReader(exchange.request).int();
    const ops = requests.map((request): MultiRequestOp => ({ opcode: OpCode.create, request }));
    const header = encode(RequestHeader, { xid, type: OpCode.multi });
    connection.sendFrame(Buffer.concat([header, encode(MultiRequest, { ops })]));
    const frame = await connection.nextFrame();
    const reader = new JuteReader(frame ?? new Uint8Array());
    expect(ReplyHeader.read(reader).xid, exchange.name).toBe(xid);
    expect(int.read(reader), `${exchange.name}, replaced`).toBe(OpCode.create);
  }
}
