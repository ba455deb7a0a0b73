/**
 * Goal: nothing that comes in on a peer's link ends a member or keeps the ensemble from serving.
 * Method: whole members; behind whole frames that one of them sends, others are slipped in that no
 * member would send: every kind, well-typed, with fields drawn at random. The bodies of proposals
 * are left alone: what a leader has decided is believed.
 */
import { FrameReader, OpCode, type PeerMessage, RequestBatch } from '@rookery/protocol';
import { encodePeerFrame } from '@rookery/protocol/peer';
import { expect, it } from 'vitest';
import type { ByteStream, Transport } from '../net/transport.js';
import type { MemoryEnsemble } from './memory-ensemble.js';
import { connected, everyoneServes, expectEqual, names, serving, write } from './scenario.js';
import { seededRandom } from './seeded-random.js';

const SEEDS = Number(process.env['HOSTILE_SEEDS'] ?? 6);
const PEER_PORT = 2881;
const FRAME_BYTES_MAX = 64 << 20;
const LENGTH_BYTES = 4;
const BIG = Number.MAX_SAFE_INTEGER;

/** What slips frames into what one member sends to the others. */
class Forger {
  /** How likely a frame is followed by one that is forged. */
  rate = 0;
  sent = 0;
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  tap(transport: Transport): Transport {
    return {
      listen: (address, onStream, chunks) =>
        transport.listen(
          address,
          (stream) => onStream(address.port === PEER_PORT ? this.#forged(stream) : stream),
          chunks,
        ),
      dial: async (address, timeoutMs, chunks) =>
        this.#forged(await transport.dial(address, timeoutMs, chunks)),
    };
  }

  #forged(stream: ByteStream): ByteStream {
    const reader = new FrameReader(FRAME_BYTES_MAX);
    let hellos = 0;
    const write = (bytes: Uint8Array): void => {
      reader.push(bytes);
      for (let frame = reader.nextOwn(); frame !== null; frame = reader.nextOwn()) {
        const whole = Buffer.alloc(LENGTH_BYTES + frame.length);
        whole.writeInt32BE(frame.length, 0);
        whole.set(frame, LENGTH_BYTES);
        stream.write(whole);
        hellos += 1;
        if (hellos > 1 && this.#random() < this.rate) {
          this.sent += 1;
          stream.write(encodePeerFrame(this.#message()));
        }
      }
      reader.giveBack();
    };
    return new Proxy(stream, {
      get: (target, name) => {
        if (name === 'write') return write;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }

  #message(): PeerMessage {
    const uint = (): number => this.#pick([0, 1, 2, 7, 1 << 16, BIG, this.#zxid()]);
    const zxid = (): number => this.#zxid();
    const bytes = (): Uint8Array => Buffer.from(this.#pick(['', 'garbage', '\0\0\0\0']));
    const key = (): Uint8Array => Buffer.from(this.#pick(['c', 'p1', 'z', '']));
    const record = (): readonly [Uint8Array, Uint8Array] => [key(), bytes()];
    const opcode = (): number => this.#pick([...Object.values(OpCode), 4711]);
    const attachment = (): number => this.#pick([0, 1, 0x7fff_ffff]);
    const item = () => ({
      attachment: attachment(),
      request: uint(),
      session: uint(),
      opcode: opcode(),
      body: bytes(),
      identities: this.#pick([[], [{ scheme: 'ip', id: '1.2.3.4' }]]),
    });
    return this.#pick<() => PeerMessage>([
      () => ({ kind: 'requests', batch: RequestBatch.of([item(), item()]) }),
      () => ({ kind: 'requests', batch: RequestBatch.of([item()]) }),
      () => ({ kind: 'sync', request: uint() }),
      () => ({ kind: 'synced', request: uint(), zxid: zxid() }),
      () => ({
        kind: 'attach',
        request: uint(),
        attachment: attachment(),
        session: uint(),
        password: bytes(),
      }),
      () => ({ kind: 'attached', request: uint(), valid: true, timeoutMs: uint() }),
      () => ({ kind: 'detach', session: uint(), attachment: uint(), request: uint() }),
      () => ({ kind: 'touch', sessions: [uint(), uint()] }),
      () => ({ kind: 'snapshotChunk', index: this.#pick([0, 1, BIG]), records: [record()] }),
      () => ({ kind: 'snapshotAck', index: uint() }),
      () => ({ kind: 'snapshotDone', zxid: zxid() }),
      () => ({ kind: 'ack', zxid: zxid() }),
      () => ({ kind: 'commit', zxid: zxid() }),
      () => ({ kind: 'confirmAck', round: uint() }),
      () => ({
        kind: 'digests',
        digests: Array.from({ length: this.#pick([1, 100]) }, () => ({
          zxid: zxid(),
          digest: this.#pick(['', 'garbage']),
        })),
      }),
      () => ({ kind: 'followerInfo', acceptedEpoch: this.#pick([1, 2, 2_097_150, 2_097_151]) }),
      () => ({ kind: 'newEpoch', epoch: this.#pick([1, 2_097_150]), established: true }),
      () => ({
        kind: 'syncStart',
        mode: 'snap',
        after: 0,
        lineage: [],
        diverged: this.#random() < 0.5,
      }),
      () => ({ kind: 'syncStart', mode: 'trunc', after: zxid(), lineage: [], diverged: true }),
    ])();
  }

  #zxid(): number {
    const epoch = this.#pick([0, 1, 2, 3]);
    return epoch * 0x1_0000_0000 + this.#pick([0, 1, 5, 20, 0xffff_ffff]);
  }

  #pick<T>(from: readonly T[]): T {
    const picked = from[Math.floor(this.#random() * from.length)];
    if (picked === undefined) throw new Error('nothing to pick from');
    return picked;
  }
}

function acceptedEpochs(ensemble: MemoryEnsemble): readonly number[] {
  return [1, 2, 3].map((id) => {
    const metrics = ensemble.member(id).status.extraMetrics;
    return metrics.find(({ name }) => name === 'accepted_epoch')?.value ?? 0;
  });
}

it.each([1, 2, 3])('ends no member, sent by member %i, and all serve once it stops', async (id) => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const forger = new Forger(seed);
    const ensemble = await serving({
      seed,
      tap: (member, transport) => (member === id ? forger.tap(transport) : transport),
    });
    const client = await connected(ensemble, ensemble.leader);
    await write(ensemble, client, names('before', 20));
    forger.rate = 0.3;
    await ensemble.timers.advance(8_000);
    expect(ensemble.failures).toEqual([]);
    forger.rate = 0;
    await everyoneServes(ensemble);
    expect(forger.sent).toBeGreaterThan(10);
    expect(Math.max(...acceptedEpochs(ensemble))).toBeLessThan(1_000);
    const after = await connected(ensemble, ensemble.leader);
    await write(ensemble, after, names('after', 20));
    await expectEqual(ensemble);
  }
});
