/**
 * One stream to another member, from its first byte to its close.
 *
 * Owns the framing in both directions, the deadline of the hello, and the bounded queue of outgoing
 * frames, which are shared between links and never modified. It knows no other links, and the port
 * decides about hellos. Nothing is delivered after `drop` or `refuse`; `onClosed` is called exactly
 * once, and never from within a call.
 */
import {
  addressText,
  assert,
  errorMessage,
  FrameError,
  FrameReader,
  type Hello,
  type PeerId,
} from '@rookery/protocol';
import { encodePeerFrame } from '@rookery/protocol/peer';
import type { Logger } from 'pino';
import { addressGroup } from '../security/address-group.js';
import { FOREIGN_BYTES, foreignAtPeerPort, isTlsHandshake } from './foreign-protocol.js';
import type { ProvenPeer } from './peer-authentication.js';
import type { RateLimitedLog } from './rate-limited-log.js';
import type { Timer, Timers } from './timers.js';
import type { ByteStream } from './transport.js';

/** `proving`: the other side has not proved who it is yet, and only short frames are read. */
type LinkPhase = 'proving' | 'hello' | 'up' | 'down';

/** A link's port. */
export interface LinkOwner {
  /** The largest frame of a link that is up. */
  readonly frameBytesMax: number;
  /** Bytes that may be queued on a link before it is dropped. */
  readonly queueBytesMax: number;
  readonly timers: Timers;
  readonly logger: Logger;
  /** For events that strangers can cause as often as they like. */
  readonly rateLimited: RateLimitedLog;
  /** Receives one frame, as a copy that belongs to the receiver. */
  onFrame(link: PeerLink, frame: Uint8Array): void;
  onClosed(link: PeerLink): void;
}

/** Enough for any hello. A stranger that has not sent one cannot make a member buffer more. */
export const HELLO_BYTES_MAX = 4096;
/** How long the other side may take until its hello, and to close a link that is refused. */
const HELLO_TIMEOUT_MS = 2_000;
export const NEEDS_PROOF =
  'members prove here who they are: set peerAuth in the file of both members';
/**
 * Bytes given to the stream at a time. It must be above the high-water mark, which is 16 or 64 KB
 * in Node, so that the stream emits 'drain'.
 */
const HANDED_BYTES_MAX = 256 << 10;
/** From this size on, a copy costs more than one more piece in a system call. */
const LARGE_FRAME_BYTES = 16 << 10;
const SAYS_WHY = 'tls.refused in the log of the other member may say why';

export class PeerLink {
  readonly number: number;
  readonly dialled: PeerId | null;
  readonly remote: string;
  /** The address that it counts for among strangers: see address-group.ts. */
  readonly group: string;
  /** When bytes were last received, in monotonic ms. */
  heardAtMs: number;

  readonly #owner: LinkOwner;
  readonly #stream: ByteStream;
  readonly #proofBytesMax: number | null;
  readonly #reader: FrameReader;
  #phase: LinkPhase;
  #proven: ProvenPeer | null = null;
  #peer: PeerId = 0;
  #instance = '';
  #version = 0;
  #downReason = '';
  readonly #queue = new FrameQueue();
  /** How the stream begins, for as long as it is not known to be a member's. */
  #first: Uint8Array = new Uint8Array(0);
  #deadline: Timer | null;

  /**
   * `dialled` is the member that was dialled, or null if the stream was accepted. `proofBytesMax`
   * is the largest frame before there is a proof, or null where the link begins with the hellos.
   */
  constructor(
    owner: LinkOwner,
    stream: ByteStream,
    link: {
      readonly number: number;
      readonly dialled: PeerId | null;
      readonly proofBytesMax: number | null;
    },
  ) {
    this.#owner = owner;
    this.#stream = stream;
    this.#proofBytesMax = link.proofBytesMax;
    this.number = link.number;
    this.dialled = link.dialled;
    this.remote = addressText(stream.remoteAddress, stream.remotePort);
    this.group = addressGroup(stream.remoteAddress);
    this.heardAtMs = owner.timers.nowMs();
    this.#phase = link.proofBytesMax === null ? 'hello' : 'proving';
    this.#reader = new FrameReader(link.proofBytesMax ?? this.#helloBytesMax);
    this.#deadline = owner.timers.after(HELLO_TIMEOUT_MS, () => this.#onDeadline());
  }

  /** The accepting side sends more right after its hello, the dialler waits for the answer. */
  get #helloBytesMax(): number {
    return this.dialled !== null ? this.#owner.frameBytesMax : HELLO_BYTES_MAX;
  }

  get phase(): LinkPhase {
    return this.#phase;
  }

  /** The other end's certificate, verified; null where the link has no TLS. */
  get certificate(): Uint8Array | null {
    return this.#stream.secured?.certificate ?? null;
  }

  /** What the other end has proved to be; null if that was not asked for. */
  get proven(): ProvenPeer | null {
    return this.#proven;
  }

  /** The member at the other end once the link is up; 0 before. */
  get peer(): PeerId {
    return this.#peer;
  }

  get instance(): string {
    return this.#instance;
  }

  /** The wire version that both ends speak once the link is up; 0 before. */
  get version(): number {
    return this.#version;
  }

  /** Why the link went down. */
  get downReason(): string {
    return this.#downReason;
  }

  /** Bytes that the kernel has not taken yet: those of the queue and of the stream. */
  get queuedBytes(): number {
    return this.#queue.bytes + this.#stream.bufferedBytes;
  }

  open(): void {
    this.#stream.handle({
      onData: (chunk) => this.#onData(chunk),
      onEnd: () => this.drop(this.#closedBecause('the other side ended the link')),
      onDrain: () => this.flush(),
      onClose: (error) => this.#onClose(error),
    });
  }

  /** Writes a frame at once: one of the exchange of proofs, or a hello. Nothing is queued yet. */
  write(frame: Uint8Array): void {
    if (this.#phase !== 'down') this.#stream.write(frame);
  }

  /** What had to be proved is proved, or nothing had to be. The hello is next. */
  awaitHello(proven: ProvenPeer | null): void {
    if (this.#phase !== 'proving') return;
    this.#phase = 'hello';
    this.#proven = proven;
    if (this.#hasMore('sent more before its proof was answered')) return;
    this.#reader.frameBytesMax = this.#helloBytesMax;
  }

  /** The hello is complete. From now on everything is a message of this peer in this version. */
  establish({ id, instance }: Hello, version: number): void {
    this.#phase = 'up';
    this.#peer = id;
    this.#instance = instance;
    this.#version = version;
    this.#deadline?.cancel();
    this.#deadline = null;
    if (this.dialled !== null || this.#hasMore('sent more before its hello was answered')) return;
    this.#reader.frameBytesMax = this.#owner.frameBytesMax;
  }

  #hasMore(reason: string): boolean {
    if (this.#reader.bufferedBytes === 0) return false;
    this.drop(reason);
    return true;
  }

  /**
   * Queues a frame, its length field included, for the next flush. An urgent frame overtakes the
   * others in this queue, but not what `flush` has given to the stream.
   */
  enqueue(frame: Uint8Array, isUrgent = false): void {
    if (this.#phase === 'down') return;
    this.#queue.push(frame, isUrgent);
    const { queueBytesMax } = this.#owner;
    if (this.queuedBytes <= queueBytesMax) return;
    const facts = { peer: this.#peer, link: this.number, queuedBytes: this.queuedBytes };
    this.#owner.logger.warn({ ...facts, queueBytesMax }, 'peer.queue_overflow');
    this.drop('reads too slowly: its queue is full');
  }

  /**
   * Gives queued frames to the stream while less than HANDED_BYTES_MAX waits there for the kernel;
   * the rest follows on 'drain'. This bounds what an urgent frame cannot overtake.
   */
  flush(): void {
    const stream = this.#stream;
    while (this.#queue.bytes > 0 && stream.bufferedBytes < HANDED_BYTES_MAX) {
      const pieces = this.#queue.take(HANDED_BYTES_MAX);
      if (pieces.length > 1 && stream.writePieces !== undefined) stream.writePieces(pieces);
      else for (const piece of pieces) stream.write(piece);
    }
  }

  /** Sends the reason and closes, without a reset that would lose the reason. */
  refuse(reason: string, isLasting: boolean): void {
    if (this.#phase === 'down') return;
    this.#stream.write(encodePeerFrame({ kind: 'refuse', reason, isLasting }));
    this.#stream.end();
    this.#goDown(`refused: ${reason}`);
    this.#deadline = this.#owner.timers.after(HELLO_TIMEOUT_MS, () => this.#stream.destroy());
  }

  /** Closes at once. Only the first reason is reported. */
  drop(reason: string): void {
    this.#goDown(reason);
    this.#stream.destroy();
  }

  #goDown(reason: string): void {
    if (this.#phase === 'down') return;
    this.#phase = 'down';
    this.#downReason = reason;
    this.#deadline?.cancel();
    this.#deadline = null;
    this.#queue.clear();
  }

  #onData(chunk: Uint8Array): void {
    if (this.#phase === 'down') return;
    this.heardAtMs = this.#owner.timers.nowMs();
    // A member with a certificate begins with its hello.
    if (this.#phase === 'proving' && this.certificate !== null) {
      this.#reader.frameBytesMax = HELLO_BYTES_MAX;
    }
    if (this.#phase !== 'up' && this.#first.length < FOREIGN_BYTES) {
      this.#first = Buffer.concat([this.#first, chunk.subarray(0, FOREIGN_BYTES)]);
    }
    this.#reader.push(chunk);
    for (let frame = this.#nextFrame(); frame !== null; frame = this.#nextFrame()) {
      this.#owner.onFrame(this, frame);
    }
    this.#reader.giveBack();
  }

  #nextFrame(): Uint8Array | null {
    if (this.#phase === 'down') return null;
    try {
      return this.#reader.nextOwn();
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      const problem = this.#reportGarbage(error.message);
      // A member without peerAuth begins with its hello: too long where it must prove itself.
      const isProving = this.#phase === 'proving' && (this.#proofBytesMax ?? 0) < HELLO_BYTES_MAX;
      // A plain answer shows a dialler that uses TLS that this port has none.
      if (isTlsHandshake(this.#first)) this.refuse(problem, false);
      else if (isProving && problem === error.message) this.refuse(NEEDS_PROOF, false);
      else this.drop('garbage');
      return null;
    }
  }

  /** The other side sent what no member sends. */
  dropAsGarbage(problem: string): void {
    this.#reportGarbage(problem);
    this.drop('garbage');
  }

  /** Returns what came where that is known, and otherwise `garbled`. */
  #reportGarbage(garbled: string): string {
    const foreign = this.#phase === 'up' ? null : foreignAtPeerPort(this.#first);
    const problem = foreign ?? garbled;
    const facts = { peer: this.dialled ?? this.#peer, remote: this.remote, problem };
    this.#owner.rateLimited.warn('peer.garbage', facts);
    return problem;
  }

  #onDeadline(): void {
    const facts = { remote: this.remote, dialled: this.dialled };
    this.#owner.rateLimited.warn('peer.hello_timeout', facts);
    this.drop('no hello in time');
  }

  #onClose(error: Error | undefined): void {
    this.#goDown(
      this.#closedBecause(error === undefined ? 'the stream closed' : errorMessage(error)),
    );
    // refuse() leaves one that closes the stream.
    this.#deadline?.cancel();
    this.#owner.onClosed(this);
  }

  /** With TLS 1.3 only the other side knows why it does not accept a certificate. */
  #closedBecause(reason: string): string {
    const isAccepted = this.dialled === null || this.certificate === null || this.#phase === 'up';
    return isAccepted ? reason : `${reason} after the TLS handshake: ${SAYS_WHY}`;
  }
}

/** The frames that wait to be sent. They keep their order, except that urgent ones come first. */
export class FrameQueue {
  readonly #urgent: Uint8Array[] = [];
  readonly #frames: Uint8Array[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  push(frame: Uint8Array, isUrgent: boolean): void {
    assert(frame.length > 0, 'a frame is not empty');
    (isUrgent ? this.#urgent : this.#frames).push(frame);
    this.#bytes += frame.length;
  }

  clear(): void {
    this.#urgent.length = 0;
    this.#frames.length = 0;
    this.#bytes = 0;
  }

  /**
   * Takes all urgent frames, and of the others as many as fit into `bytesMax` with them, but at
   * least one frame. Small frames that follow each other are joined; large ones are not copied.
   */
  take(bytesMax: number): readonly Uint8Array[] {
    assert(this.#bytes > 0, 'something waits');
    const taken = this.#urgent.splice(0);
    let bytes = 0;
    for (const frame of taken) bytes += frame.length;
    let count = 0;
    for (const frame of this.#frames) {
      if (bytes > 0 && bytes + frame.length > bytesMax) break;
      bytes += frame.length;
      taken.push(frame);
      count += 1;
    }
    // Released at once: a frame may be large.
    this.#frames.splice(0, count);
    this.#bytes -= bytes;
    return taken.length === 1 ? taken : piecesOf(taken);
  }
}

function piecesOf(frames: readonly Uint8Array[]): readonly Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let small: Uint8Array[] = [];
  const join = (): void => {
    const [first, second] = small;
    if (first !== undefined) pieces.push(second === undefined ? first : Buffer.concat(small));
    small = [];
  };
  for (const frame of frames) {
    if (frame.length < LARGE_FRAME_BYTES) {
      small.push(frame);
    } else {
      join();
      pieces.push(frame);
    }
  }
  join();
  return pieces;
}
