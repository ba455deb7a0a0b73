/**
 * Goal: whoever reaches the port between members and is none gets nothing: no vote counts, no byte
 * of the tree leaves, no election is disturbed. Method: every kind of message, well-formed or not,
 * as the first frame and behind a claim, against every member of a hardened ensemble. Handshakes
 * that are recorded and replayed, or passed on, are in server/src/net/peer-admission.test.ts.
 */
import { connect } from 'node:net';
import { FrameReader } from '@rookery/protocol';
import { decodePeerMessage, encodePeerFrame } from '@rookery/protocol/peer';
import { expect, it, onTestFinished } from 'vitest';
import { Hardened } from '../../harness/hardened.js';
import { productUnderTest } from '../../harness/product.js';
import { testSeed } from '../../harness/test-seed.js';
import { within } from '../../harness/wait.js';
import { Random } from '../../simulation/random.js';

const TEST_DEADLINE_MS = 240_000;
const CLOSED_DEADLINE_MS = 30_000;
/** A member's answers to a stranger: random bytes, and one sentence. */
const ANSWER_BYTES_MAX = 256;
const KINDS_MAX = 64;
const FIELDS_MAX = 12;
const AT_ONCE = 60;
const CLAIM = encodePeerFrame({ kind: 'claim', id: 2, to: 1, nonce: Buffer.alloc(32, 7) });

/** msgpack of what fields have: numbers, nothing, booleans, texts, bytes, lists. */
const VALUES = [
  ...['00', '01', '02', '7f', 'c0', 'c2', 'c3', 'a0', 'a161', '90', '9101', 'cfffffffffffffffff'],
  ...[`c420${'00'.repeat(32)}`, 'cf0000000100000001', 'cb3ff0000000000000', '9192a16101'],
];

function framed(payload: Uint8Array): Buffer {
  const frame = Buffer.alloc(4 + payload.length);
  frame.writeInt32BE(payload.length);
  frame.set(payload, 4);
  return frame;
}

/** A message of this kind with so many fields, drawn at random. */
function message(kind: number, fields: number, random: Random): Buffer {
  const values = Array.from({ length: fields }, () => random.pick(VALUES)).join('');
  return framed(Buffer.from(`9${(fields + 1).toString(16)}cc${hex(kind)}${values}`, 'hex'));
}

const hex = (byte: number) => byte.toString(16).padStart(2, '0');

function malformed(random: Random): Buffer[] {
  const noise = (length: number) =>
    Buffer.from(Array.from({ length }, () => Math.floor(random.between(0, 256))));
  const heads = [
    ...['7fffffff', 'ffffffff', '80000000', '00000000', '00001000', '000001ff', '00'],
    ...['16030100c8010000c4030300', '474554202f20485454502f312e310d0a0d0a', '73727672'],
  ];
  return [
    ...heads.map((text) => Buffer.from(text, 'hex')),
    ...Array.from({ length: 100 }, () => noise(Math.ceil(random.between(1, 700)))),
    ...Array.from({ length: 100 }, () => framed(noise(Math.ceil(random.between(1, 500))))),
  ];
}

/** Everything that the member says until it closes the connection. */
function tell(port: number, ...pieces: readonly Uint8Array[]): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const said = new Promise<Buffer>((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.on('connect', () => {
      for (const piece of pieces) socket.write(piece);
    });
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') reject(error);
    });
    socket.on('end', () => socket.destroy());
    socket.on('close', () => resolve(Buffer.concat(chunks)));
  });
  return within('the member closes the connection', CLOSED_DEADLINE_MS, said);
}

function kindsOf(answer: Uint8Array): string[] {
  const reader = new FrameReader(1 << 20);
  reader.push(answer);
  const kinds: string[] = [];
  for (let frame = reader.nextOwn(); frame !== null; frame = reader.nextOwn()) {
    kinds.push(decodePeerMessage(frame).kind);
  }
  return kinds;
}

it.skipIf(productUnderTest().name === 'apache')(
  'CVE-2018-8012: a stranger at the port for members gets random bytes and a sentence, whatever it sends',
  async () => {
    const random = new Random(testSeed());
    const hardened = await Hardened.start();
    const before = await hardened.fingerprint();
    const leadership = await hardened.leadership();
    const marks = hardened.logMarks();
    const openings: (readonly Uint8Array[])[] = malformed(random).map((bytes) => [bytes]);
    for (let kind = 0; kind < KINDS_MAX; kind++) {
      for (let fields = 0; fields <= FIELDS_MAX; fields++) {
        const forged = message(kind, fields, random);
        openings.push([forged], [CLAIM, forged, message(8, 1, random)]);
      }
    }
    const ports = hardened.ensemble.members.map(({ peerPort }) => peerPort);
    for (let at = 0; at < openings.length; at += AT_ONCE) {
      const some = openings.slice(at, at + AT_ONCE);
      const answers = await Promise.all(
        some.map((pieces, index) => tell(ports[(at + index) % ports.length] ?? 0, ...pieces)),
      );
      for (const [index, answer] of answers.entries()) {
        const what =
          some[index]?.map((piece) => Buffer.from(piece).toString('hex')).join(' ') ?? '';
        expect(answer.length, what).toBeLessThanOrEqual(ANSWER_BYTES_MAX);
        expect(['challenge', 'refuse'], what).toEqual(expect.arrayContaining(kindsOf(answer)));
        hardened.toldNothing(what, answer);
      }
    }
    expect(openings.length).toBeGreaterThan(1_800);
    hardened.staysAsItWas(marks);
    expect(await hardened.leadership()).toBe(leadership);
    expect(await hardened.fingerprint()).toBe(before);
    await hardened.change();
  },
  TEST_DEADLINE_MS,
);

it.skipIf(productUnderTest().name === 'apache')(
  'a stranger that stays connected to a member costs it a few connections for two seconds',
  async () => {
    const hardened = await Hardened.start();
    const marks = hardened.logMarks();
    const [member] = hardened.ensemble.members;
    if (member === undefined) throw new Error('there is a member');
    // Silent ones, some with a claim, and some that go on after they were refused.
    const sockets = Array.from({ length: 400 }, (_, index) => {
      const socket = connect({ host: '127.0.0.1', port: member.peerPort, allowHalfOpen: true });
      socket.on('error', () => undefined);
      socket.resume();
      if (index % 3 === 1) socket.write(CLAIM);
      if (index % 3 === 2) socket.write(framed(Buffer.from([0x90])));
      return socket;
    });
    const closed = Promise.all(
      sockets.map((socket) => new Promise((done) => socket.once('close', done))),
    );
    await hardened.change();
    // A half-open socket is gone for good only when a write finds that nobody is there.
    const poke = setInterval(() => {
      for (const socket of sockets) if (!socket.destroyed) socket.write('x');
    }, 100);
    onTestFinished(() => clearInterval(poke));
    await within('the member closes all of them', CLOSED_DEADLINE_MS, closed);
    hardened.staysAsItWas(marks);
    await hardened.change();
  },
  TEST_DEADLINE_MS,
);
