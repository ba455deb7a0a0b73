/**
 * The exchanges recorded from ZooKeeper 3.8.0 are replayed against a running member.
 *
 * Every reply must equal the recorded one, frame by frame and in order, except for values that
 * differ from run to run.
 */
import { ConnectRequest, ConnectResponse, decode, encode, type Int64 } from '@rookery/protocol';
import { expect, it, onTestFinished } from 'vitest';
import { useServingEnsemble } from '../../harness/ensemble.js';
import { RawConnection } from '../../harness/raw-connection.js';
import { describeReply, type Exchange, isConnect, readVectors } from '../../harness/vectors.js';

/** The number of exchanges, so that no test passes with only a part of them. */
const EXCHANGES = 89;

/**
 * These were recorded on a second connection without credentials, while the first one stayed open.
 */
const ON_SECOND_CONNECTION = new Set([
  'getData: no auth',
  'setData: no auth',
  'malformed body: truncated create',
  'unknown opcode 77',
]);

it.each([
  { mode: 'leader', size: 3 },
  { mode: 'follower', size: 3 },
  { mode: 'standalone', size: 1 },
])(
  'a member in mode $mode answers every recorded exchange as ZooKeeper 3.8.0 did',
  async ({ mode, size }) => {
    const ensemble = await useServingEnsemble({ size, tickTimeMs: 2_000 });
    const [follower] = await ensemble.followers();
    const member = mode === 'follower' ? follower : await ensemble.leader();
    if (member === undefined) throw new Error('there is no follower');
    expect((await member.status())?.mode).toBe(mode);
    const exchanges = readVectors();
    expect(exchanges).toHaveLength(EXCHANGES);
    const replay = new Replay(member.clientPort);
    onTestFinished(() => replay.close());
    for (const exchange of exchanges) await replay.run(exchange);
  },
);

class Replay {
  readonly #port: number;
  readonly #connections: RawConnection[] = [];
  /** The id that this member gave out for each recorded session id. */
  readonly #sessions = new Map<Int64, ConnectResponse>();
  #first: RawConnection | undefined;
  #latest: RawConnection | undefined;

  constructor(port: number) {
    this.#port = port;
  }

  async run(exchange: Exchange): Promise<void> {
    if (isConnect(exchange)) return await this.#connect(exchange);
    const connection = this.#connectionFor(exchange);
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

  /** After the second connect everything continues on the first connection, until it is resumed. */
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
    for (const recorded of responses) {
      const frame = await connection.nextFrame();
      if (frame === undefined) throw new Error(`${name}: the connection ended, a reply is missing`);
      expect(describeReply(exchange, frame), name).toEqual(describeReply(exchange, recorded));
      frames.push(frame);
    }
    if (exchange.closed) {
      expect(await connection.nextFrame(), `${name}: closed after the reply`).toBeUndefined();
    }
    return frames;
  }
}
