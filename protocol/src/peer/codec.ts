/**
 * Converts peer messages to bytes and back: msgpack arrays of fixed layout, the number of the kind
 * first.
 *
 * The numbers and the order of fields are the wire format. What a later wire version adds (fields
 * at the end, `added`; kinds, `since`) is written and read only on links of that version, and no
 * field is ever removed or changed. msgpackr's record extension is off, and bytes are checked
 * before msgpackr sees them, so garbage causes a MarshallingError and nothing else. Decoded
 * messages contain views of the frame. The link handles the length prefix of a frame.
 */
import { Packr } from 'msgpackr';
import { assert } from '../basics/assert.js';
import { MarshallingError } from '../jute/errors.js';
import { bufferOf } from '../jute/reader.js';
import type { AuthenticationMessage, Hello, Refuse } from './admission-messages.js';
import {
  added,
  asArray,
  bytes,
  bytesOf,
  counter,
  date,
  epoch,
  type Field,
  flag,
  Layout,
  list,
  milliseconds,
  natural,
  oneOf,
  pair,
  peerId,
  shortText,
  struct,
  text,
  uint,
  zxid,
} from './fields.js';
import { helloOffer } from './hello.js';
import type {
  DigestAt,
  EpochRange,
  ForwardedRequests,
  HistorySummary,
  LeadershipOf,
  PeerMessage,
  Propose,
} from './messages.js';
import { ProposalBatch } from './proposal-batch.js';
import { RequestBatch } from './request-batch.js';
import { RESERVED_FIELD_SINCE, WIRE_VERSION_MAX, WIRE_VERSION_MIN } from './wire-version.js';

export type LinkMessage = PeerMessage | Hello | AuthenticationMessage | Refuse;

/** Whether members send it to each other once their hellos are accepted. */
export function isPeerMessage(message: LinkMessage): message is PeerMessage {
  switch (message.kind) {
    case 'hello':
    case 'claim':
    case 'challenge':
    case 'proof':
    case 'refuse':
      return false;
    default:
      return true;
  }
}

interface MessageLayout<M extends LinkMessage> {
  readonly code: number;
  readonly fields: Layout<Omit<M, 'kind'>>;
  /** The first wire version that has this kind of message. */
  readonly since: number;
  /**
   * The message is read before a version is agreed: what later versions than the first add may be
   * missing, and more than is known here is ignored, so that a refusal can name both versions.
   */
  readonly isOpen: boolean;
}

interface MessageRules {
  readonly since?: number;
  readonly isOpen?: boolean;
}

function message<M extends LinkMessage>(
  code: number,
  fields: { readonly [Name in keyof Omit<M, 'kind'>]-?: Field<Omit<M, 'kind'>[Name]> },
  { since = WIRE_VERSION_MIN, isOpen = false }: MessageRules = {},
): MessageLayout<M> {
  return { code, fields: new Layout<Omit<M, 'kind'>>(fields), since, isOpen };
}

const history = struct<HistorySummary>({
  base: zxid,
  ranges: list(struct<EpochRange>({ epoch, first: counter, last: counter })),
});

/** The number of random bytes in a claim and in a challenge. */
export const NONCE_BYTES = 32;
const CODE_BYTES = 32;
/** The secret in use and the one that replaces it. */
export const SECRETS_MAX = 2;
const ENSEMBLE_ID_CHARACTERS_MAX = 100;

const DIGEST_CHARACTERS_MAX = 64;
const QUESTION_CHARACTERS_MAX = 4096;
const lineage = list(struct<LeadershipOf>({ epoch, identity: uint }));
/** `former` of a vote is a list of lists; it is absent if there is none. */
const memberLists = list(list(peerId));
const formerLists: Field<readonly (readonly number[])[] | undefined> = {
  pack: (lists) => memberLists.pack(lists ?? []),
  unpack: (packed) => memberLists.unpack(packed),
};

/** `full` and `spares` of a vote are absent if there is nothing to say, too. */
const fullFlag: Field<boolean | undefined> = {
  pack: (isFull) => flag.pack(isFull ?? false),
  unpack: (packed) => flag.unpack(packed),
};
const MEMBERS_MAX = 255;
const memberList = list(peerId, MEMBERS_MAX);
const sparedMembers: Field<readonly number[] | undefined> = {
  pack: (ids) => memberList.pack(ids ?? []),
  unpack: (packed) => memberList.unpack(packed),
};

/** `reserved` of an `upToDate` is absent where nothing uses it. */
const reserved: Field<number | undefined> = {
  pack: (value) => uint.pack(value ?? 0),
  unpack: (packed) => uint.unpack(packed),
};

/** One byte string, so that what was written once goes to every follower and to the log. */
const proposalBatch: Field<ProposalBatch> = {
  pack: ({ bytes }) => bytes,
  unpack: (packed) => ProposalBatch.parse(bytes.unpack(packed)),
};

/** One byte string, too, because requests are written once for the leader. */
const requestBatch: Field<RequestBatch> = {
  pack: ({ bytes }) => bytes,
  unpack: (packed) => RequestBatch.parse(bytes.unpack(packed)),
};

const LEASE_MS_MAX = 1_000_000_000;
const PROPOSE_CODE = 8;
const REQUESTS_CODE = 16;

const LAYOUTS: {
  readonly [K in LinkMessage['kind']]: MessageLayout<Extract<LinkMessage, { kind: K }>>;
} = {
  ping: message(1, { sent: milliseconds, echo: milliseconds }),
  vote: message(2, {
    round: uint,
    state: oneOf('looking', 'following', 'leading'),
    leader: peerId,
    epoch,
    zxid,
    ensembleId: text,
    founded: flag,
    sound: flag,
    former: formerLists,
    full: fullFlag,
    spares: sparedMembers,
  }),
  followerInfo: message(3, { acceptedEpoch: epoch }),
  newEpoch: message(4, { epoch, established: flag }),
  ackEpoch: message(5, {
    epoch,
    currentEpoch: epoch,
    last: zxid,
    applied: zxid,
    history,
    snapshotOnly: flag,
    lineage: lineage,
  }),
  syncStart: message(6, {
    mode: oneOf('diff', 'trunc', 'snap'),
    after: zxid,
    lineage: lineage,
    diverged: flag,
  }),
  snapshotDone: message(7, { zxid }),
  propose: message<Propose>(PROPOSE_CODE, { batch: proposalBatch }),
  newLeader: message(9, {
    epoch,
    last: zxid,
    ensembleId: text,
    leaseMs: natural(LEASE_MS_MAX),
  }),
  ackNewLeader: message(10, { epoch, last: zxid }),
  upToDate: message(11, {
    committed: zxid,
    reserved: added(RESERVED_FIELD_SINCE, reserved, 0),
  }),
  ack: message(12, { zxid }),
  commit: message(13, { zxid }),
  leaderDurable: message(30, { zxid }),
  confirm: message(14, { round: uint }),
  confirmAck: message(15, { round: uint }),
  requests: message<ForwardedRequests>(REQUESTS_CODE, { batch: requestBatch }),
  sync: message(17, { request: uint }),
  synced: message(18, { request: uint, zxid }),
  attach: message(19, {
    request: uint,
    session: uint,
    password: bytes,
    attachment: uint,
  }),
  attached: message(20, { request: uint, valid: flag, timeoutMs: uint }),
  detach: message(21, {
    session: uint,
    request: uint,
    attachment: uint,
  }),
  touch: message(22, { sessions: list(uint) }),
  snapshotChunk: message(23, { index: uint, records: list(pair(bytes, bytes)) }),
  snapshotAck: message(24, { index: uint }),
  clock: message(27, { wallMs: date }),
  digests: message(28, {
    digests: list(struct<DigestAt>({ zxid, digest: shortText(DIGEST_CHARACTERS_MAX) })),
  }),
  diverged: message(29, { zxid }),
  backupNews: message(35, { slot: uint, isDone: flag }),
  ask: message(36, { number: uint, question: shortText(QUESTION_CHARACTERS_MAX) }),
  tell: message(37, { number: uint, answer: bytes }),
  hello: message(
    25,
    {
      version: uint,
      id: peerId,
      to: peerId,
      instance: text,
      ensembleId: text,
      founded: flag,
      offer: helloOffer,
    },
    { isOpen: true },
  ),
  claim: message(32, { id: peerId, to: peerId, nonce: bytesOf(NONCE_BYTES) }, { isOpen: true }),
  challenge: message(33, { nonce: bytesOf(NONCE_BYTES) }, { isOpen: true }),
  proof: message(
    34,
    {
      ensembleId: shortText(ENSEMBLE_ID_CHARACTERS_MAX),
      codes: list(bytesOf(CODE_BYTES), SECRETS_MAX),
    },
    { isOpen: true },
  ),
  refuse: message(26, { reason: text, isLasting: flag }, { isOpen: true }),
};

const KINDS: ReadonlyMap<number, LinkMessage['kind']> = new Map(
  (Object.keys(LAYOUTS) as LinkMessage['kind'][]).map((kind) => [LAYOUTS[kind].code, kind]),
);

assert(KINDS.size === Object.keys(LAYOUTS).length, 'every kind of message has a code of its own');

const packr = new Packr({ useRecords: false, int64AsType: 'number' });

/**
 * Returns a whole frame, including its length, in memory to which nobody writes anything else. A
 * batch of proposals or of requests is not copied where it has headroom for the frame's head.
 * `version` is the link's. A hello, a refusal and a batch do not depend on it.
 */
export function encodePeerFrame(value: LinkMessage, version = WIRE_VERSION_MAX): Uint8Array {
  if (value.kind === 'propose') return batchFrame(PROPOSE_CODE, value.batch);
  if (value.kind === 'requests') return batchFrame(REQUESTS_CODE, value.batch);
  // The union of layouts cannot be called with the union of messages; the kind ties the two.
  const layout = LAYOUTS[value.kind] as MessageLayout<LinkMessage>;
  const { code, fields, since, isOpen } = layout;
  assert(isOpen || since <= version, () => `a ${value.kind} is sent from version ${since} on`);
  const size = isOpen ? fields.size : fields.sizeAt(version);
  const payload = packr.pack(fields.pack([code], value, size));
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + payload.length);
  frame.writeInt32BE(payload.length, 0);
  frame.set(payload, LENGTH_BYTES);
  return frame;
}

/**
 * Returns the frame of a message that is one byte string. Its head goes into the headroom; without
 * headroom there is a copy. Each link writes the head again, maybe while another link still sends
 * the frame. The head must therefore depend on the batch alone, and not on a link's version.
 */
function batchFrame(code: number, { bytes, headroom }: ProposalBatch | RequestBatch): Buffer {
  const { length, buffer, byteOffset } = bytes;
  const hasHeadroom = headroom >= HEAD_BYTES;
  const frame = hasHeadroom
    ? Buffer.from(buffer, byteOffset - HEAD_BYTES, HEAD_BYTES + length)
    : Buffer.allocUnsafeSlow(HEAD_BYTES + length);
  let at = frame.writeInt32BE(HEAD_BYTES - LENGTH_BYTES + length, 0);
  frame[at++] = MSGPACK_ARRAY_OF_2;
  frame[at++] = code;
  frame[at++] = MSGPACK_BIN_32;
  at = frame.writeUInt32BE(length, at);
  if (!hasHeadroom) frame.set(bytes, at);
  return frame;
}

const LENGTH_BYTES = 4;
const MSGPACK_ARRAY_OF_2 = 0x92;
const MSGPACK_BIN_32 = 0xc6;
/** The array, the code, and that bytes follow. */
const TAGS_BYTES = 3;
/** The head consists of the frame's length, the tags, and the length of the bytes. */
const HEAD_BYTES = LENGTH_BYTES + TAGS_BYTES + LENGTH_BYTES;

/** Throws MarshallingError if the frame is no message that this version has. */
export function decodePeerMessage(frame: Uint8Array, version = WIRE_VERSION_MAX): LinkMessage {
  const batch = batchIn(frame);
  if (batch !== null) {
    return frame[1] === PROPOSE_CODE
      ? { kind: 'propose', batch: ProposalBatch.parse(batch) }
      : { kind: 'requests', batch: RequestBatch.parse(batch) };
  }
  checkMsgpack(frame);
  const packed = unpackArray(frame);
  const code = packed[0];
  const kind = typeof code === 'number' ? KINDS.get(code) : undefined;
  if (kind === undefined) throw new MarshallingError(`no message has the kind ${String(code)}`);
  const { fields, since, isOpen } = LAYOUTS[kind] as MessageLayout<LinkMessage>;
  if (!isOpen && since > version) {
    throw new MarshallingError(`a message ${kind} on a link of version ${version}`);
  }
  const count = packed.length - 1;
  const size = fields.sizeAt(isOpen ? WIRE_VERSION_MIN : version);
  if (count < size || (count > size && !isOpen)) {
    throw new MarshallingError(`a message ${kind} of ${count} fields, not ${size}`);
  }
  return fields.unpack({ kind }, packed, 1) as LinkMessage;
}

/**
 * The bytes of a batch of proposals or of requests whose head is exactly what `batchFrame` writes;
 * null for any other frame, which msgpackr reads.
 */
function batchIn(frame: Uint8Array): Uint8Array | null {
  if (frame[0] !== MSGPACK_ARRAY_OF_2 || frame[2] !== MSGPACK_BIN_32) return null;
  if (frame[1] !== PROPOSE_CODE && frame[1] !== REQUESTS_CODE) return null;
  const start = HEAD_BYTES - LENGTH_BYTES;
  if (frame.length < start) return null;
  const length = bufferOf(frame).readUInt32BE(TAGS_BYTES);
  return length === frame.length - start ? frame.subarray(start) : null;
}

function unpackArray(frame: Uint8Array): readonly unknown[] {
  let packed: unknown;
  try {
    packed = packr.unpack(frame);
  } catch (cause) {
    throw new MarshallingError('a message is not msgpack', { cause });
  }
  return asArray(packed);
}

const DEPTH_MAX = 6;

/**
 * Checks that bytes are one whole msgpack value of the plain kinds that peers send.
 *
 * msgpackr trusts its input: it allocates arrays by the length it reads, and runs extensions. So
 * before it gets bytes from a peer, lengths, nesting and the end are checked here. Maps and
 * extensions are refused: no message has one. Values themselves are the codec's business.
 *
 * Throws MarshallingError unless `bytes` is exactly one array of plain values.
 */
function checkMsgpack(bytes: Uint8Array): void {
  const end = checkValue(bytes, 0, 0);
  if (end !== bytes.length) {
    throw new MarshallingError(`${bytes.length - end} bytes after a message`);
  }
}

/** Returns the offset behind the value at `at`. */
function checkValue(bytes: Uint8Array, at: number, depth: number): number {
  const tag = byteAt(bytes, at);
  if (tag <= 0x7f || tag >= 0xe0) return at + 1;
  if (tag >= 0x90 && tag <= 0x9f) return checkArray(bytes, at + 1, tag & 0x0f, depth);
  if (tag >= 0xa0 && tag <= 0xbf) return skip(bytes, at + 1, tag & 0x1f);
  switch (tag) {
    case 0xc2:
    case 0xc3:
      return at + 1;
    case 0xc4:
    case 0xd9:
      return skip(bytes, at + 2, lengthAt(bytes, at + 1, 1));
    case 0xc5:
    case 0xda:
      return skip(bytes, at + 3, lengthAt(bytes, at + 1, 2));
    case 0xc6:
    case 0xdb:
      return skip(bytes, at + 5, lengthAt(bytes, at + 1, 4));
    case 0xcc:
    case 0xd0:
      return skip(bytes, at + 1, 1);
    case 0xcd:
    case 0xd1:
      return skip(bytes, at + 1, 2);
    case 0xca:
    case 0xce:
    case 0xd2:
      return skip(bytes, at + 1, 4);
    case 0xcb:
    case 0xcf:
    case 0xd3:
      return skip(bytes, at + 1, 8);
    case 0xdc:
      return checkArray(bytes, at + 3, lengthAt(bytes, at + 1, 2), depth);
    case 0xdd:
      return checkArray(bytes, at + 5, lengthAt(bytes, at + 1, 4), depth);
    default:
      throw new MarshallingError(`a message holds the msgpack tag 0x${tag.toString(16)}`);
  }
}

function checkArray(bytes: Uint8Array, at: number, count: number, depth: number): number {
  if (depth === DEPTH_MAX) throw new MarshallingError('a message is nested too deep');
  // Every element takes a byte at least, so the loop is bounded by the frame.
  if (count > bytes.length - at) throw new MarshallingError(`a list of ${count} is cut off`);
  let end = at;
  for (let index = 0; index < count; index++) end = checkValue(bytes, end, depth + 1);
  return end;
}

function skip(bytes: Uint8Array, at: number, length: number): number {
  if (length > bytes.length - at) throw new MarshallingError('a message is cut off');
  return at + length;
}

function lengthAt(bytes: Uint8Array, at: number, width: number): number {
  let length = 0;
  for (let index = 0; index < width; index++) length = length * 256 + byteAt(bytes, at + index);
  return length;
}

function byteAt(bytes: Uint8Array, at: number): number {
  const byte = bytes[at];
  if (byte === undefined) throw new MarshallingError('a message is cut off');
  return byte;
}
