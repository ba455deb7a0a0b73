/**
 * What one connection has written and its client has not taken yet, and how it is counted.
 *
 * Frames are appended to `writer`; `writeOut` hands them to the stream in one write. The budget of
 * all clients together learns how much this client owes. Used by ClientConnection.
 */
import { JuteWriter } from '@rookery/protocol';
import { LARGE_ANSWER_BYTES } from './client-share.js';
import type { ConnectionOwner } from './connection-owner.js';
import { largestFrameBytes, lastFrameAt } from './frames-written.js';
import type { ByteStream } from './transport.js';

type Owner = Pick<ConnectionOwner<never>, 'limits' | 'slabs' | 'stats' | 'isWithheld'> & {
  readonly output: { add(bytes: number): void };
};

const NOTHING = new Uint8Array(0);

export class ClientOutput {
  readonly writer: JuteWriter;
  readonly #stream: ByteStream;
  readonly #owner: Owner;
  /** How many bytes of `writer` have been counted in the clients' share of the turn. */
  #talliedBytes = 0;
  /** Bytes buffered in the stream after the last write; the number can only have fallen since. */
  #bufferedBytesMax = 0;
  /** The bytes last reported to the budget of output. */
  #owedBytes = 0;
  #largestBytes = 0;
  #kept: Uint8Array = NOTHING;

  constructor(stream: ByteStream, owner: Owner) {
    this.#stream = stream;
    this.#owner = owner;
    this.writer = new JuteWriter(owner.slabs);
  }

  /** Bytes not yet taken by the kernel. */
  get bytes(): number {
    return this.writer.length + this.#stream.bufferedBytes;
  }

  /** The memory of what the kernel has not taken after its turn, in bytes: see `count`. */
  get owedBytes(): number {
    if (this.#owedBytes > 0) this.count();
    return this.#owedBytes;
  }

  /** The largest of the large answers since the output was last empty, in bytes. */
  get largestBytes(): number {
    return this.#largestBytes;
  }

  /** Whether more waits than this client should have in memory. */
  get isChoked(): boolean {
    const { outputSoftBytes } = this.#owner.limits;
    // The stream is asked only where it matters, because this runs for each frame.
    if (this.writer.length + this.#bufferedBytesMax <= outputSoftBytes) return false;
    return this.bytes > outputSoftBytes;
  }

  /** Bytes written since the last call. */
  takeUntallied(): number {
    const bytes = this.writer.length - this.#talliedBytes;
    this.#talliedBytes += bytes;
    return bytes;
  }

  /** Writes everything out. Returns the bytes that the stream buffers. */
  flush(): number {
    if (this.#stream.bufferedBytes === 0) this.#largestBytes = 0;
    this.writeOut();
    this.count();
    const buffered = this.#stream.bufferedBytes;
    // Output for a slow client keeps its whole slab in memory, so others get a new slab.
    if (buffered === 0) this.writer.recycle();
    return buffered;
  }

  writeOut(): void {
    if (this.writer.length === 0) return;
    const bytes = this.writer.take();
    this.#talliedBytes = 0;
    this.#write(bytes);
  }

  /** Copies what is written so far for `writeKept`. Nothing written later is part of it. */
  keep(): void {
    this.#kept = this.writer.take().slice();
  }

  writeKept(): void {
    const kept = this.#kept;
    this.#kept = NOTHING;
    if (kept.length > 0) this.#write(kept);
  }

  #write(bytes: Uint8Array): void {
    if (bytes.length > Math.max(this.#largestBytes, LARGE_ANSWER_BYTES)) {
      this.#largestBytes = Math.max(this.#largestBytes, largestFrameBytes(bytes));
    }
    this.#owner.stats.bytesSent += bytes.length;
    // The replies of one turn count as one response.
    this.#owner.stats.responseSizes.record(bytes.length);
    if (this.#stream.secured === null) this.#stream.write(bytes);
    else this.#stream.write(bytes, lastFrameAt(bytes));
    this.#bufferedBytesMax = this.#stream.bufferedBytes;
  }

  /** As a flush, while nothing may leave. Returns the bytes that wait. */
  withhold(): number {
    const bytes = this.bytes;
    const { outputHardBytes } = this.#owner.limits;
    // The frames are looked at only where it matters.
    if (bytes > outputHardBytes) {
      const largestBytes = largestFrameBytes(this.writer.untaken);
      this.#largestBytes = Math.max(this.#largestBytes, largestBytes);
    }
    this.count();
    return bytes;
  }

  /**
   * Tells the budget what the client owes: what the stream buffers, its slab as a whole, and what
   * is withheld.
   */
  count(): void {
    const buffered = this.#stream.bufferedBytes;
    const withheld = this.#kept.length + (this.#owner.isWithheld ? this.writer.length : 0);
    if (buffered + withheld + this.#owedBytes === 0) return;
    this.#report(withheld + (buffered === 0 ? 0 : buffered + this.writer.slabBytes));
  }

  /** The stream is gone: the client owes nothing any more. */
  countNone(): void {
    if (this.#owedBytes > 0) this.#report(0);
  }

  /** Forgets what has not been written out; what was kept stays. */
  drop(): void {
    this.writer.reset();
    this.writer.release();
    this.#talliedBytes = 0;
  }

  #report(bytes: number): void {
    this.#owner.output.add(bytes - this.#owedBytes);
    this.#owedBytes = bytes;
  }
}
