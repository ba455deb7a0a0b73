/**
 * Garbage in the shape of requests: recorded frames that are mutated, and meaningless bytes.
 *
 * Everything is derived from one seed. `intact` frames have a correct length in front, so that a
 * server must answer each or close the connection; the others may leave it waiting for more bytes.
 */
import { decode, RequestHeader } from '@rookery/protocol';
import type { Random } from '../harness/random.js';
import { isConnect, readVectors } from '../harness/vectors.js';

export interface Garbage {
  /** The frame with its length in front. */
  readonly bytes: Uint8Array;
  readonly intact: boolean;
}

const INTERESTING = [
  ...[0, 1, -1, -2, -4, -8, 2, 16, 127, 128, 255, 256, 65_535, 65_536, 1_048_575, 1_048_576],
  ...[0x7fffffff, -0x80000000, 0x7ffffffe, 10_001],
];
const LONG_BYTES_MAX = 60_000;

/** Opcodes that are answered whatever the body is, after which the connection continues. */
const PATIENT_OPCODES = [
  ...[1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 14, 15, 16, 17, 18, 19, 21, 22],
  ...[101, 103, 104, 105, 106, 107, 10_001],
];
const HEADER_BYTES = 8;

export class GarbageMaker {
  readonly #random: Random;
  readonly #connects: readonly Uint8Array[];
  readonly #requests: readonly Uint8Array[];
  /** Opcodes that leave the connection open however the body is mutated. */
  readonly #patient: readonly Uint8Array[];

  constructor(random: Random) {
    this.#random = random;
    const vectors = readVectors();
    const requests = vectors.filter((exchange) => !isConnect(exchange));
    this.#connects = vectors.filter(isConnect).map(({ request }) => request);
    this.#requests = requests.map(({ request }) => request);
    this.#patient = this.#requests.filter((request) =>
      PATIENT_OPCODES.includes(decode(RequestHeader, request).type),
    );
  }

  /** A complete ConnectRequest for a new session, or a mutated one. */
  connect(isWild: boolean): Garbage {
    const bends = isWild && this.#random.below(2) === 0;
    return bends
      ? this.#framed(this.#bent(this.#random.pick(this.#connects)))
      : framed(NEW_SESSION);
  }

  /** Wild garbage may end the connection at any frame; the other kind gets through to the end. */
  frame(isWild: boolean): Garbage {
    const random = this.#random;
    if (!isWild) return framed(this.#patientFrame());
    const request = random.pick(this.#requests);
    const dice = random.below(100);
    if (dice < 40) return framed(request);
    if (dice < 80) return this.#framed(this.#bent(request));
    if (dice < 90) return framed(this.#spliced(request, random.pick(this.#requests)));
    return this.#framed(random.bytes(random.below(120)));
  }

  #patientFrame(): Uint8Array {
    const random = this.#random;
    const request = random.pick(this.#patient);
    const dice = random.below(1_000);
    if (dice < 200) return request;
    const header = request.slice(0, HEADER_BYTES);
    const body = request.subarray(HEADER_BYTES);
    if (dice < 750) return joined(header, this.#bent(body));
    if (dice < 850) {
      return joined(header, this.#spliced(body, random.pick(this.#patient).subarray(HEADER_BYTES)));
    }
    if (dice < 853) return this.#long(request);
    new DataView(header.buffer).setInt32(4, random.pick(PATIENT_OPCODES));
    return joined(header, dice < 950 ? random.bytes(random.below(80)) : body);
  }

  #framed(payload: Uint8Array): Garbage {
    if (this.#random.below(200) > 0) return framed(payload);
    const { bytes } = framed(payload);
    new DataView(bytes.buffer).setInt32(0, this.#int());
    return { bytes, intact: false };
  }

  #bent(request: Uint8Array): Uint8Array {
    let bytes = request;
    for (let count = 1 + this.#random.below(3); count > 0; count -= 1) bytes = this.#bend(bytes);
    return bytes;
  }

  #bend(bytes: Uint8Array): Uint8Array {
    const random = this.#random;
    const at = random.below(Math.max(1, bytes.length));
    switch (random.below(6)) {
      case 0:
        return bytes.subarray(0, at);
      case 1:
        return joined(bytes, random.bytes(1 + random.below(40)));
      case 2:
        return joined(bytes.subarray(0, at), random.bytes(1 + random.below(8)), bytes.subarray(at));
      case 3:
        return this.#withInt(bytes, at);
      case 4:
        return this.#withInt(bytes, 4);
      default:
        return bytes.map((byte, index) => (index === at ? byte ^ (1 << random.below(8)) : byte));
    }
  }

  #long(request: Uint8Array): Uint8Array {
    return joined(request, this.#random.bytes(this.#random.below(LONG_BYTES_MAX)));
  }

  #spliced(left: Uint8Array, right: Uint8Array): Uint8Array {
    const below = (limit: number) => this.#random.below(limit + 1);
    return joined(left.subarray(0, below(left.length)), right.subarray(below(right.length)));
  }

  #withInt(bytes: Uint8Array, at: number): Uint8Array {
    const copy = Uint8Array.from(bytes);
    const start = Math.min(at, copy.length - 4);
    if (start >= 0) new DataView(copy.buffer).setInt32(start, this.#int());
    return copy;
  }

  #int(): number {
    return this.#random.pick(INTERESTING);
  }
}

/**
 * The fields are protocolVersion, lastZxidSeen, timeout 6 s, no session, 16 bytes of password,
 * readOnly.
 */
const NEW_SESSION = Uint8Array.of(
  ...[0, 0, 0, 0],
  ...[0, 0, 0, 0, 0, 0, 0, 0],
  ...[0, 0, 0x17, 0x70],
  ...[0, 0, 0, 0, 0, 0, 0, 0],
  ...[0, 0, 0, 16, ...new Uint8Array(16)],
  0,
);

function framed(payload: Uint8Array): Garbage {
  const bytes = new Uint8Array(4 + payload.length);
  new DataView(bytes.buffer).setInt32(0, payload.length);
  bytes.set(payload, 4);
  return { bytes, intact: true };
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(parts));
}
