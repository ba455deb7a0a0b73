/**
 * Input that no well-behaved client or peer sends: it is answered as ZooKeeper would answer it, or
 * its connection is closed with one log line, and the member continues to serve everybody else.
 *
 * All tests share one quiet ensemble: between two marks its logs contain only what the test
 * provoked.
 */
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import {
  CreateFlag,
  decode,
  ErrorCode,
  encode,
  int,
  OpCode,
  PathWatchRequest,
  ReplyHeader,
  RequestHeader,
} from '@rookery/protocol';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  onTestFinished,
} from 'vitest';
import { Ensemble, SERVING_DEADLINE_MS } from '../../harness/ensemble.js';
import type { Member } from '../../harness/member.js';
import { create, getData, setData } from '../../harness/operations.js';
import { Random } from '../../harness/random.js';
import { RawConnection } from '../../harness/raw-connection.js';
import { connectTo, useClient } from '../../harness/use-client.js';
import { deferred, until, within } from '../../harness/wait.js';
import { ConnectionLost, connectRequest, WireClient } from '../../harness/wire-client.js';

const FRAME_BYTES_MAX = 1_048_575;
const CLOSED_DEADLINE_MS = 10_000;
/** ZooKeeper's timeout for connections without a session, doubled. */
const HANDSHAKE_DEADLINE_MS = 20_000;
const CONNECTIONS_MAX = 12;

let ensemble: Ensemble;
let member: Member;
let witness: WireClient;
let mark = 0;

beforeAll(async () => {
  ensemble = await Ensemble.create({ settings: { maxClientCnxns: CONNECTIONS_MAX } });
  ensemble.start();
  await ensemble.serving();
  member = await ensemble.leader();
  // This is the last line of a start; it may come after the first test has begun to count lines.
  const isRaised = () => member.log().includes('level.raised') || undefined;
  await until('the level is raised', SERVING_DEADLINE_MS, isRaised);
  witness = await connectTo(member, { timeoutMs: 10_000 });
  await create(witness, '/witness', '0');
}, SERVING_DEADLINE_MS * 2);

afterAll(async () => {
  await ensemble.close();
});

beforeEach(() => {
  mark = member.logMark();
});

/** The same session on the same connection is still served, whatever a test has sent. */
afterEach(async () => {
  const before = Number((await getData(witness, '/witness')).data);
  await setData(witness, '/witness', String(before + 1));
  expect((await getData(witness, '/witness')).data).toBe(String(before + 1));
  expect(ensemble.running.length, 'no member has died').toBe(3);
});

describe('before the handshake', () => {
  it.each([
    ['an oversized length', lengthOnly(FRAME_BYTES_MAX + 1)],
    ['the largest length', lengthOnly(0x7fffffff)],
    ['a negative length', lengthOnly(-5)],
    ['the most negative length', lengthOnly(-0x80000000)],
    ['a connect request cut short', framed(new Uint8Array(10))],
    ['a connect request of no bytes', lengthOnly(0)],
    ['a password of a negative length', framed(badPasswordLength())],
    ['a password of a length past the end', framed(passwordPastTheEnd())],
    ['an HTTP request', Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n')],
    ['a TLS hello', Buffer.from('16030100d8010000d40303', 'hex')],
  ])('%s closes the connection without an answer, with one log line', async (_what, bytes) => {
    const connection = await useRawConnection();
    connection.send(bytes);
    await within('the end of the connection', CLOSED_DEADLINE_MS, connection.ended);
    expect(await connection.nextFrame()).toBeUndefined();
    await expectOneLine();
  });

  it('random bytes never harm the member', async () => {
    const random = Random.forTest('garbage');
    for (let round = 0; round < 100; round++) {
      const connection = await useRawConnection();
      const bytes = random.bytes(1 + random.below(200));
      // Half of the time a plausible length comes first, so that the bytes get past the framing.
      if (round % 2 === 0) connection.send(bytes);
      else connection.sendFrame(bytes);
      connection.destroy();
    }
  });

  it('a client that never finishes its handshake is closed after ten seconds', async () => {
    const silent = await useRawConnection();
    const halfWay = await useRawConnection();
    halfWay.send(connectRequest({}).subarray(0, 20));
    await within(
      'the end of both',
      HANDSHAKE_DEADLINE_MS,
      Promise.all([silent.ended, halfWay.ended]),
    );
    // Lines about the random bytes before may still come; the second of a kind is logged a second
    // later.
    const told = () => member.linesSince(mark).filter((line) => line.includes('sessionless'));
    await until('both lines are logged', CLOSED_DEADLINE_MS, () => told().length >= 2 || undefined);
    expect(told()).toHaveLength(2);
  });
});

describe('in a session', () => {
  it.each([
    ['an oversized length', lengthOnly(FRAME_BYTES_MAX + 1)],
    ['a negative length', lengthOnly(-1)],
  ])('%s closes the connection with one log line', async (_what, bytes) => {
    const client = await useClient(member);
    client.sendRaw(bytes);
    await within('the end of the connection', CLOSED_DEADLINE_MS, client.closed);
    await expectOneLine();
  });

  it('a frame that is too short for a header closes the connection', async () => {
    const client = await useClient(member);
    client.sendRaw(framed(new Uint8Array(3)));
    await within('the end of the connection', CLOSED_DEADLINE_MS, client.closed);
  });

  it.each([
    ['create', OpCode.create],
    ['delete', OpCode.delete],
    ['exists', OpCode.exists],
    ['getData', OpCode.getData],
    ['setData', OpCode.setData],
    ['getACL', OpCode.getAcl],
    ['setACL', OpCode.setAcl],
    ['getChildren', OpCode.getChildren],
    ['getChildren2', OpCode.getChildren2],
    ['multi', OpCode.multi],
    ['create2', OpCode.create2],
    ['setWatches', OpCode.setWatches],
  ])('a truncated %s is answered with -5 and the connection is kept', async (_name, opcode) => {
    const client = await useClient(member);
    // A string or vector of length three, with nothing after the length.
    const reply = await client.request(opcode, int, 3);
    expect(reply.error).toBe(ErrorCode.marshallingError);
    expect((await getData(client, '/')).data).toBe('');
  });

  it('every proper prefix of a request is answered with -5, and the complete request is served', async () => {
    const connection = await useRawSession();
    const whole = encode(PathWatchRequest, { path: '/witness', watch: false });
    for (let length = 0; length <= whole.length; length++) {
      const header = encode(RequestHeader, { xid: length, type: OpCode.getData });
      connection.sendFrame(Buffer.concat([header, whole.subarray(0, length)]));
    }
    for (let length = 0; length <= whole.length; length++) {
      const { xid, error } = decode(
        ReplyHeader,
        (await connection.nextFrame()) ?? new Uint8Array(),
      );
      expect(xid).toBe(length);
      expect(error).toBe(length < whole.length ? ErrorCode.marshallingError : ErrorCode.ok);
    }
  });

  it.each([77, 0, -1, -77, 999_999, -10])(
    'opcode %i is answered with -6, and the connection is closed',
    async (opcode) => {
      const connection = await useRawSession();
      connection.sendFrame(encode(RequestHeader, { xid: 1, type: opcode }));
      const frame = await connection.nextFrame();
      expect(decode(ReplyHeader, frame ?? new Uint8Array()).error).toBe(ErrorCode.unimplemented);
      await within('the end of the connection', CLOSED_DEADLINE_MS, connection.ended);
    },
  );
});

describe('excessive load', () => {
  it('a client that never reads is bounded and slows down nobody', async () => {
    const client = await useClient(member, { timeoutMs: 4_000, pings: false });
    await create(client, '/large', 'x'.repeat(500_000), CreateFlag.ephemeral);
    const before = residentBytes(member);
    client.stopReading();
    // This would be 4 GB of replies if all of them were built.
    client.pipeline(() => {
      for (let i = 0; i < 8_000; i++) {
        client
          .request(OpCode.getData, PathWatchRequest, { path: '/large', watch: false })
          .catch(() => undefined);
      }
    });
    for (let i = 0; i < 200; i++) await setData(witness, '/witness', String(i));
    expect(residentBytes(member) - before).toBeLessThan(200_000_000);
    await client.drop();
  });

  it('connections beyond maxClientCnxns are closed, while the others and later ones are served', async () => {
    const open: WireClient[] = [];
    const fill = async () => {
      while (open.length < CONNECTIONS_MAX + 1) open.push(await useClientOnce());
    };
    await expect(fill()).rejects.toBeInstanceOf(ConnectionLost);
    // The control connection occupies one of the places.
    expect(open.length).toBe(CONNECTIONS_MAX - 1);
    await expectOneLine(/refused|too many|maxClientCnxns/i);
    for (const client of open) expect((await getData(client, '/')).data).toBe('');
    await open[0]?.close();
    await until('a place is free again', CLOSED_DEADLINE_MS, () => useClientOnce());
  });
});

describe('a stranger at the peer port', () => {
  it.each([
    ['garbage', Random.forTest('peer garbage').bytes(100)],
    ['a small frame of garbage', framed(new Uint8Array([0xc1, 1, 2, 3]))],
    ['an oversized length', lengthOnly(0x7fffffff)],
    ['an HTTP request', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    ['a client of ZooKeeper', connectRequest({})],
  ])('%s is closed with one log line, and the ensemble continues', async (_what, bytes) => {
    const { ended, received } = await talkToPeerPort(bytes);
    await within('the end of the connection', CLOSED_DEADLINE_MS, ended);
    expect(received()).toBeLessThan(2_000);
    await expectOneLine();
  });
});

/** Exactly one line is logged for it, and a moment later it is still only one. */
async function expectOneLine(pattern = /./): Promise<void> {
  await until('a log line', CLOSED_DEADLINE_MS, () => member.linesSince(mark)[0]);
  // The round trip of another connection gives a second line the time to appear.
  await setData(witness, '/witness', '0');
  const lines = member.linesSince(mark);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(pattern);
}

async function useRawConnection(): Promise<RawConnection> {
  const connection = await RawConnection.open(member.clientPort);
  onTestFinished(() => connection.destroy());
  return connection;
}

async function useRawSession(): Promise<RawConnection> {
  const connection = await useRawConnection();
  connection.send(connectRequest({}));
  if ((await connection.nextFrame()) === undefined) throw new Error('the handshake failed');
  return connection;
}

async function useClientOnce(): Promise<WireClient> {
  const client = await WireClient.connect({ port: member.clientPort });
  onTestFinished(() => client.drop());
  return client;
}

async function talkToPeerPort(bytes: Uint8Array) {
  const ended = deferred<void>();
  let received = 0;
  const socket: Socket = connect({ host: '127.0.0.1', port: member.peerPort });
  socket.on('data', (chunk) => {
    received += chunk.length;
  });
  socket.on('error', () => undefined);
  socket.on('close', () => ended.resolve());
  socket.write(bytes);
  onTestFinished(() => {
    socket.destroy();
  });
  return { ended: ended.promise, received: () => received };
}

function residentBytes({ pid }: Member): number {
  const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1]) * 1024;
}

function lengthOnly(length: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(length);
  return bytes;
}

function framed(payload: Uint8Array): Uint8Array {
  return Buffer.concat([lengthOnly(payload.length), payload]);
}

/** A connect request that states a password length of -2. */
function badPasswordLength(): Uint8Array {
  const payload = Buffer.from(connectRequest({}).subarray(4));
  payload.writeInt32BE(-2, 24);
  return payload;
}

function passwordPastTheEnd(): Uint8Array {
  const payload = Buffer.from(connectRequest({}).subarray(4));
  payload.writeInt32BE(1_000_000, 24);
  return payload;
}
