/**
 * Answers the four-letter words that arrive at the client port, a little in each turn.
 *
 * `ProtocolSniffer` distinguishes a word from frames. The service makes an answer and passes it to
 * the scheduler, which produces it over several turns. What the word may read is collected when the
 * first piece is taken, which for a listing may be long after the question; the list of connections
 * is read while clients come and go. Owned by the client port.
 */
import { ErrorCode, unreachable } from '@rookery/protocol';
import { type FourLetterWord, isListing } from '../config/four-letter-words.js';
import type { AuditSink } from '../pipeline/audit.js';
import { addressGroup, plainAddress } from '../security/address-group.js';
import { atMost } from '../state/at-most.js';
import { type ClientConnection, LINGER_MS } from './client-connection.js';
import { type FairSlot, FairSlots } from './fair-slots.js';
import type { ConnectionView } from './four-letter/context.js';
import { type AskedWord, replyToWord } from './four-letter/reply.js';
import { type FourLetterWhitelist, readFirstBytes, TRACE_MASK_BYTES } from './four-letter/words.js';
import type { MemberView } from './member-view.js';
import type { RateLimitedLog } from './rate-limited-log.js';
import { ConnectionStats, type ServerStats } from './server-stats.js';
import { SESSIONLESS_TIMEOUT_MS } from './sessionless-streams.js';
import type { Timer, Timers } from './timers.js';
import type { ByteStream } from './transport.js';

/** The client port. */
interface WordPort {
  readonly timers: Timers;
  readonly rateLimited: RateLimitedLog;
  readonly stats: ServerStats;
  readonly connectionCount: number;
  connections(): Iterable<ClientConnection>;
}

/** The words that change something: counters, or the trace mask. */
const CHANGING: ReadonlySet<FourLetterWord> = new Set(['crst', 'srst', 'stmk']);

export class WordService {
  readonly #port: WordPort;
  readonly #whitelist: FourLetterWhitelist;
  readonly #view: MemberView;
  readonly #audit: AuditSink | null;
  readonly #scheduler: WordScheduler;

  /** `audit` gets a line for each word that changes something; null where nothing is audited. */
  constructor(
    port: WordPort,
    whitelist: FourLetterWhitelist,
    view: MemberView,
    audit: AuditSink | null,
  ) {
    this.#port = port;
    this.#whitelist = whitelist;
    this.#view = view;
    this.#audit = audit;
    this.#scheduler = new WordScheduler(port.timers);
  }

  /** The number of bytes that belong to a word and follow it. */
  argumentBytes(word: FourLetterWord): number {
    return word === 'stmk' && this.#whitelist.allows(word) ? TRACE_MASK_BYTES : 0;
  }

  /** Makes an answer, which the scheduler begins. `onPart` is called for each written part. */
  answer(asked: AskedWord, stream: ByteStream, onPart: () => void): WordAnswer {
    if (CHANGING.has(asked.word)) this.#record(asked.word, stream.remoteAddress);
    const isLong = isListing(asked.word) && this.#whitelist.allows(asked.word);
    const what = { word: asked.word, pieces: this.#piecesFor(asked, stream), isListing: isLong };
    const answer = new WordAnswer(this.#port, stream, what, onPart);
    this.#scheduler.add(answer);
    return answer;
  }

  /** The client has taken what was written. */
  onDrain(answer: WordAnswer): void {
    this.#scheduler.onDrain(answer);
  }

  /** Forgets an answer whose stream is gone. */
  forget(answer: WordAnswer): void {
    this.#scheduler.forget(answer);
  }

  #record(word: FourLetterWord, address: string): void {
    const isAllowed = this.#whitelist.allows(word);
    const who = { session: 0, user: [], ip: plainAddress(address) };
    const asked = { operation: 'fourLetterWord', request: word };
    const failure = { result: 'failure', error: ErrorCode.noAuth } as const;
    const outcome = isAllowed ? ({ result: 'success' } as const) : failure;
    this.#audit?.record({ ...who, ...asked, ...outcome });
  }

  *#piecesFor(asked: AskedWord, stream: ByteStream): Generator<string> {
    const port = this.#port;
    const { stats } = port;
    const { remoteAddress, remotePort } = stream;
    const wallMs = port.timers.wallMs();
    const own = new ConnectionStats(stats, wallMs);
    own.receivedPackets(1);
    const expiresWallMs = wallMs + SESSIONLESS_TIMEOUT_MS;
    const isSecured = stream.secured !== null;
    const from = { remoteAddress, remotePort, isSecured };
    const asker = { ...from, interestOps: 0, expiresWallMs, stats: own };
    yield* replyToWord(asked, this.#whitelist, {
      view: this.#view,
      stats,
      wallMs,
      connectionCount: 1 + port.connectionCount,
      connections: () => withAsker(asker, port),
    });
  }
}

function* withAsker(asker: ConnectionView, port: WordPort): Generator<ConnectionView> {
  yield asker;
  yield* atMost(port.connectionCount, port.connections());
}

/** The result of a step: more to do, waiting for the client, or done. */
type WordStep = 'more' | 'waits' | 'over';

/** An answer is written when it has so many characters, or ends. */
const PART_CHARACTERS = 64 << 10;
/**
 * An answer waits while its stream buffers this many bytes. That is not below the high-water mark
 * of a socket of Node, so 'drain' is sure to follow.
 */
const WAIT_BYTES = 64 << 10;
/** The number of pieces in one step; most pieces are lines. */
const STEP_PIECES = 128;

/**
 * The answer to one four-letter word, which is produced and written in parts.
 *
 * Owns the stream after the word. A part is written when it has 64 KB or the answer ends, so a
 * short answer is one chunk (kazoo reads it with a single recv). Nothing more is produced while the
 * client has not taken what was written. An error in an answer is logged and closes only this
 * stream, because no stranger's question may end the member.
 */
class WordAnswer implements FairSlot {
  readonly isListing: boolean;
  readonly group: string;
  readonly #port: WordPort;
  readonly #stream: ByteStream;
  readonly #word: FourLetterWord;
  readonly #pieces: Iterator<string>;
  readonly #onPart: () => void;
  #text = '';
  #isOver = false;
  #linger: Timer | null = null;

  /**
   * `isListing`: the answer may take long; short ones come first. `onPart` is called for each part
   * that was written, because a client that takes parts is not idle.
   */
  constructor(
    port: WordPort,
    stream: ByteStream,
    what: {
      readonly word: FourLetterWord;
      readonly pieces: Iterator<string>;
      readonly isListing: boolean;
    },
    onPart: () => void,
  ) {
    this.#port = port;
    this.#stream = stream;
    this.#word = what.word;
    this.#pieces = what.pieces;
    this.isListing = what.isListing;
    this.group = addressGroup(stream.remoteAddress);
    this.#onPart = onPart;
  }

  /** Whether the client has taken everything so far and the answer is not complete. */
  get isClientWaiting(): boolean {
    return !this.#isOver && this.#stream.bufferedBytes === 0;
  }

  /** Produces some more pieces. Not called after the end. */
  step(): { readonly kind: WordStep; readonly characters: number } {
    const before = this.#text.length;
    try {
      const isEnd = this.#takePieces();
      const characters = this.#text.length - before;
      if (isEnd) return { kind: this.#end(), characters };
      return { kind: this.#maybeWrite(), characters };
    } catch (error) {
      this.#port.rateLimited.error('client.word_failed', { ...this.#facts, err: error });
      this.#isOver = true;
      this.#stream.destroy();
      return { kind: 'over', characters: 0 };
    }
  }

  /** Gives the answer up, which its client does not take. `onStreamClosed` follows. */
  drop(): void {
    this.#port.rateLimited.warn('client.word_dropped', this.#facts);
    this.#stream.destroy();
  }

  get #facts() {
    return { word: this.#word, remote: this.#stream.remoteAddress };
  }

  /** Called when the stream is gone. */
  onStreamClosed(): void {
    this.#linger?.cancel();
    if (!this.#isOver) this.#pieces.return?.();
    this.#isOver = true;
    this.#text = '';
  }

  /** Returns true at the end of the answer. */
  #takePieces(): boolean {
    for (let pieces = 0; pieces < STEP_PIECES; pieces++) {
      const next = this.#pieces.next();
      if (next.done === true) return true;
      this.#text += next.value;
      if (this.#text.length >= PART_CHARACTERS) return false;
    }
    return false;
  }

  #maybeWrite(): WordStep {
    if (this.#text.length < PART_CHARACTERS) return 'more';
    this.#write();
    return this.#stream.bufferedBytes >= WAIT_BYTES ? 'waits' : 'more';
  }

  #end(): WordStep {
    this.#isOver = true;
    if (this.#text !== '') this.#write();
    this.#stream.end();
    this.#linger = this.#port.timers.after(LINGER_MS, () => this.#stream.destroy());
    return 'over';
  }

  #write(): void {
    this.#stream.write(Buffer.from(this.#text, 'utf8'));
    this.#text = '';
    this.#onPart();
  }
}

/** The duration of one slice. */
const SLICE_MS = 2;
const SLICE_CHARACTERS = 256 << 10;
/** The pause after a slice that was used up. */
const PAUSE_MS = 4;
/** No listing begins while so many are being produced. */
export const LISTINGS_MAX = 4;
/** The number of answers that may be blocked, because their clients have not taken a part yet. */
export const BLOCKED_MAX = 16;
/** A step without output takes time, too, so it counts as this number of characters. */
const STEP_CHARACTERS_MIN = 1 << 10;

/**
 * Schedules the answers to four-letter words, a little in each turn, so that they delay no request.
 *
 * An answer may be as long as there are connections, sessions or watches, and strangers may ask for
 * many at once. So words get slices, bounded in time and characters. After a slice that was used up
 * there is a pause, so words take at most a third of the member's time. Short answers come before
 * listings, but after a slice without time for listings the next one begins with a listing.
 *
 * Listings begin in the order of their questions, and only while few are being produced; those that
 * have not begun use no memory. An answer is blocked while its client has not taken what was
 * written, and a blocked answer keeps no listing from beginning. Few answers may be blocked. When
 * there is one too many, one of the address with the most is dropped (fair-slots.ts): the one that
 * has been blocked longest. A client that goes on reading, but more slowly than its answer is made,
 * is no exception: its answer is blocked again after each part.
 */
class WordScheduler {
  readonly #timers: Timers;
  /** Short answers, in the order in which they continue. */
  readonly #short = new Set<WordAnswer>();
  /** Listings that have begun and are not blocked, in the order in which they continue. */
  readonly #listings = new Set<WordAnswer>();
  /** Answers that wait until their clients take what was written. */
  readonly #blocked = new FairSlots<WordAnswer>(BLOCKED_MAX);
  /** Listings that have not begun yet. */
  readonly #waiting = new Set<WordAnswer>();
  #isListingOwed = false;
  #isDue = false;
  #pauseUntilMs = Number.NEGATIVE_INFINITY;
  #untilMs = 0;
  #charactersLeft = 0;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /**
   * Adds an answer. A short one begins in the next slice, a listing once fewer than LISTINGS_MAX
   * are being produced.
   */
  add(answer: WordAnswer): void {
    if (answer.isListing) this.#waiting.add(answer);
    else this.#short.add(answer);
    this.#schedule();
  }

  /** The client has taken what was written. */
  onDrain(answer: WordAnswer): void {
    if (!this.#blocked.delete(answer)) return;
    this.#queueOf(answer).add(answer);
    this.#schedule();
  }

  /** Forgets an answer whose stream is gone. */
  forget(answer: WordAnswer): void {
    this.#blocked.delete(answer);
    this.#waiting.delete(answer);
    this.#queueOf(answer).delete(answer);
    this.#schedule();
  }

  #queueOf({ isListing }: WordAnswer): Set<WordAnswer> {
    return isListing ? this.#listings : this.#short;
  }

  #schedule(): void {
    if (this.#isDue) return;
    this.#begin();
    if (this.#short.size + this.#listings.size === 0) return;
    this.#isDue = true;
    const pauseMs = this.#pauseUntilMs - this.#timers.nowMs();
    if (pauseMs > 0) this.#timers.after(pauseMs, () => this.#slice());
    else this.#timers.defer(() => this.#slice());
  }

  #slice(): void {
    this.#isDue = false;
    const beganMs = this.#timers.nowMs();
    this.#untilMs = beganMs + SLICE_MS;
    this.#charactersLeft = SLICE_CHARACTERS;
    let hasListed = false;
    if (this.#isListingOwed) hasListed = this.#stepOf(this.#listings);
    while (this.#mayContinue && this.#stepOf(this.#short));
    while (this.#mayContinue && this.#stepOf(this.#listings)) hasListed = true;
    this.#isListingOwed = !hasListed && this.#listings.size > 0;
    if (!this.#mayContinue) this.#pauseFor(this.#timers.nowMs() - beganMs);
    this.#schedule();
  }

  /** A step may take longer than a slice. The pause is then twice as long as the step. */
  #pauseFor(sliceMs: number): void {
    const pauseMs = Math.max(PAUSE_MS, 2 * sliceMs);
    this.#pauseUntilMs = this.#timers.nowMs() + pauseMs;
  }

  get #mayContinue(): boolean {
    return this.#charactersLeft > 0 && this.#timers.nowMs() < this.#untilMs;
  }

  /** Makes a step of the first answer, which then moves to the end; false if there is none. */
  #stepOf(queue: Set<WordAnswer>): boolean {
    const [answer] = queue;
    if (answer === undefined) return false;
    queue.delete(answer);
    const { kind, characters } = answer.step();
    this.#charactersLeft -= Math.max(characters, STEP_CHARACTERS_MIN);
    if (kind === 'more') queue.add(answer);
    else if (kind === 'waits') this.#blocked.add(answer)?.drop();
    return true;
  }

  /** Begins as many listings as may be produced at a time. */
  #begin(): void {
    for (const answer of this.#waiting) {
      if (this.#listings.size >= LISTINGS_MAX) return;
      this.#waiting.delete(answer);
      this.#listings.add(answer);
    }
  }
}

/** The client port, to which a sniffer reports its stream. */
interface StreamOwner {
  /** A part of an answer was written: the client is not idle. */
  onWordPart(id: number): void;
  /** The client sends frames: takes the stream over with all bytes so far, or drops it. */
  onFrames(id: number, stream: ByteStream, first: Uint8Array): void;
  /** The client ended its side before it sent a whole word or frame; it may be dropped. */
  onLeft(id: number): void;
  /** A stream that was not handed over is gone. Called once. */
  onGone(id: number): void;
}

const WORD_BYTES = 4;

/**
 * Decides by the first four bytes of a client's stream whether it is a four-letter word or frames.
 *
 * A word is answered, and what the client sends after it is ignored; a stream of frames is handed
 * over, with what was read of it, to the connection that the port opens. Extra bytes and a half
 * close are tolerated (`echo stat | nc`).
 */
export class ProtocolSniffer {
  readonly #id: number;
  readonly #stream: ByteStream;
  readonly #words: WordService;
  readonly #owner: StreamOwner;
  #first: Uint8Array = new Uint8Array(0);
  #answer: WordAnswer | null = null;

  constructor(id: number, stream: ByteStream, words: WordService, owner: StreamOwner) {
    this.#id = id;
    this.#stream = stream;
    this.#words = words;
    this.#owner = owner;
  }

  open(): void {
    this.#stream.handle({
      onData: (chunk) => this.#onData(chunk),
      onEnd: () => this.#onEnd(),
      onDrain: () => this.#onDrain(),
      onClose: () => this.#onClose(),
    });
  }

  /** Whether the client of a four-letter word waits for this member to produce the answer. */
  get isClientWaiting(): boolean {
    return this.#answer?.isClientWaiting === true;
  }

  drop(): void {
    this.#stream.destroy();
  }

  #onData(chunk: Uint8Array): void {
    if (this.#answer !== null) return;
    // Copied, because the chunk is only lent.
    this.#first = Buffer.concat([this.#first, chunk]);
    if (this.#first.length < WORD_BYTES) return;
    const first = readFirstBytes(this.#first);
    switch (first.kind) {
      case 'frames':
        this.#owner.onFrames(this.#id, this.#stream, this.#takeFirst());
        return;
      case 'telnetClose':
        this.drop();
        return;
      case 'word':
        this.#maybeAnswer(first.word);
        return;
      default:
        unreachable(first);
    }
  }

  /** Returns what came so far, and keeps none of it. */
  #takeFirst(): Uint8Array {
    const first = this.#first;
    this.#first = new Uint8Array(0);
    return first;
  }

  /** Waits for the bytes that belong to the word. A client that never sends them times out. */
  #maybeAnswer(word: FourLetterWord): void {
    const end = WORD_BYTES + this.#words.argumentBytes(word);
    if (this.#first.length < end) return;
    // Copied, so that nothing else that a stranger sent stays in memory while the answer waits.
    const argument = Uint8Array.from(this.#takeFirst().subarray(WORD_BYTES, end));
    this.#answer = this.#words.answer({ word, argument }, this.#stream, () =>
      this.#owner.onWordPart(this.#id),
    );
  }

  #onDrain(): void {
    if (this.#answer !== null) this.#words.onDrain(this.#answer);
  }

  #onEnd(): void {
    if (this.#answer === null) this.#owner.onLeft(this.#id);
  }

  #onClose(): void {
    this.#answer?.onStreamClosed();
    this.#owner.onGone(this.#id);
    if (this.#answer !== null) this.#words.forget(this.#answer);
  }
}
