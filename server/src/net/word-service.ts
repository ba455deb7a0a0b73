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
import type { ClientConnection } from './client-connection.js';
import { type FairSlot, FairSlots } from './fair-slots.js';
import type { ConnectionView } from './four-letter/context.js';
import { type AskedWord, replyToWord } from './four-letter/reply.js';
import { type FourLetterWhitelist, readFirstBytes, TRACE_MASK_BYTES } from './four-letter/words.js';
import type { MemberView } from './member-view.js';
import type { RateLimitedLog } from './rate-limited-log.js';
import { ConnectionStats, type ServerStats } from './server-stats.js';
import type { Timer, Timers } from './timers.js';
import type { ByteStream } from './transport.js';

interface WordServiceParts {
  readonly whitelist: FourLetterWhitelist;
  readonly limits: WordLimits;
  /** After this idle time a stream without a session is dropped, in ms. */
  readonly sessionlessTimeoutMs: number;
  readonly lingerMs: number;
  readonly timers: Timers;
  readonly rateLimited: RateLimitedLog;
  readonly stats: ServerStats;
  /** Gets a line for each word that changes something; absent where nothing is audited. */
  readonly audit?: AuditSink | null | undefined;
  readonly view: MemberView;
  /** The port's own set of client connections, which changes. */
  readonly connections: ReadonlySet<ClientConnection>;
}

/** The words that change something: counters, or the trace mask. */
const CHANGING: ReadonlySet<FourLetterWord> = new Set(['crst', 'srst', 'stmk']);

export class WordService {
  readonly #parts: WordServiceParts;
  readonly #scheduler: WordScheduler;

  constructor(parts: WordServiceParts) {
    this.#parts = parts;
    this.#scheduler = new WordScheduler(parts.timers, parts.limits);
  }

  /** The number of bytes that belong to a word and follow it. */
  argumentBytes(word: FourLetterWord): number {
    return word === 'stmk' && this.#parts.whitelist.allows(word) ? TRACE_MASK_BYTES : 0;
  }

  /** Makes an answer, which the scheduler begins. `onPart` is called for each written part. */
  answer(asked: AskedWord, stream: ByteStream, onPart: () => void): WordAnswer {
    const { whitelist, lingerMs, timers, rateLimited } = this.#parts;
    if (CHANGING.has(asked.word)) this.#record(asked.word, stream.remoteAddress);
    const answer = new WordAnswer({
      word: asked.word,
      pieces: this.#piecesFor(asked, stream),
      isListing: isListing(asked.word) && whitelist.allows(asked.word),
      stream,
      timers,
      rateLimited,
      lingerMs,
      onPart,
    });
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
    const isAllowed = this.#parts.whitelist.allows(word);
    const who = { session: 0, user: [], ip: plainAddress(address) };
    const asked = { operation: 'fourLetterWord', request: word };
    const failure = { result: 'failure', error: ErrorCode.noAuth } as const;
    const outcome = isAllowed ? ({ result: 'success' } as const) : failure;
    this.#parts.audit?.record({ ...who, ...asked, ...outcome });
  }

  *#piecesFor(asked: AskedWord, stream: ByteStream): Generator<string> {
    const { timers, stats, view, whitelist, connections, sessionlessTimeoutMs } = this.#parts;
    const { remoteAddress, remotePort } = stream;
    const wallMs = timers.wallMs();
    const own = new ConnectionStats(stats, wallMs);
    own.receivedPackets(1);
    const expiresWallMs = wallMs + sessionlessTimeoutMs;
    const isSecured = stream.secured !== null;
    const from = { remoteAddress, remotePort, isSecured };
    const asker = { ...from, interestOps: 0, expiresWallMs, stats: own };
    yield* replyToWord(asked, whitelist, {
      view,
      stats,
      wallMs,
      connectionCount: 1 + connections.size,
      connections: () => withAsker(asker, connections),
    });
  }
}

function* withAsker(
  asker: ConnectionView,
  connections: ReadonlySet<ClientConnection>,
): Generator<ConnectionView> {
  yield asker;
  yield* atMost(connections.size, connections);
}

interface WordAnswerParts {
  readonly word: FourLetterWord;
  readonly pieces: Iterator<string>;
  /** Whether the answer may take long, as a listing does. Short answers come first. */
  readonly isListing: boolean;
  readonly stream: ByteStream;
  readonly timers: Timers;
  readonly rateLimited: RateLimitedLog;
  /** How long a client may take to close after the answer, in ms. */
  readonly lingerMs: number;
  /** Called for each part that was written; a client that takes parts is not idle. */
  onPart(): void;
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
  readonly #parts: WordAnswerParts;
  #text = '';
  #isOver = false;
  #linger: Timer | null = null;

  constructor(parts: WordAnswerParts) {
    this.isListing = parts.isListing;
    this.group = addressGroup(parts.stream.remoteAddress);
    this.#parts = parts;
  }

  /** Whether the client has taken everything so far and the answer is not complete. */
  get isClientWaiting(): boolean {
    return !this.#isOver && this.#parts.stream.bufferedBytes === 0;
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
      const { word, stream, rateLimited } = this.#parts;
      rateLimited.error('client.word_failed', { word, remote: stream.remoteAddress, err: error });
      this.#isOver = true;
      stream.destroy();
      return { kind: 'over', characters: 0 };
    }
  }

  /** Gives the answer up, which its client does not take. `onStreamClosed` follows. */
  drop(): void {
    const { word, stream, rateLimited } = this.#parts;
    rateLimited.warn('client.word_dropped', { word, remote: stream.remoteAddress });
    stream.destroy();
  }

  /** Called when the stream is gone. */
  onStreamClosed(): void {
    this.#linger?.cancel();
    if (!this.#isOver) this.#parts.pieces.return?.();
    this.#isOver = true;
    this.#text = '';
  }

  /** Returns true at the end of the answer. */
  #takePieces(): boolean {
    for (let pieces = 0; pieces < STEP_PIECES; pieces++) {
      const next = this.#parts.pieces.next();
      if (next.done === true) return true;
      this.#text += next.value;
      if (this.#text.length >= PART_CHARACTERS) return false;
    }
    return false;
  }

  #maybeWrite(): WordStep {
    if (this.#text.length < PART_CHARACTERS) return 'more';
    const { stream } = this.#parts;
    this.#write();
    return stream.bufferedBytes >= WAIT_BYTES ? 'waits' : 'more';
  }

  #end(): WordStep {
    const { stream, timers, lingerMs } = this.#parts;
    this.#isOver = true;
    if (this.#text !== '') this.#write();
    stream.end();
    this.#linger = timers.after(lingerMs, () => stream.destroy());
    return 'over';
  }

  #write(): void {
    const { stream, onPart } = this.#parts;
    stream.write(Buffer.from(this.#text, 'utf8'));
    this.#text = '';
    onPart();
  }
}

export interface WordLimits {
  /** The duration of one slice, in ms. */
  readonly durationMsMax: number;
  readonly charactersMax: number;
  /** The pause after a slice that was used up, in ms. */
  readonly pauseMs: number;
  /** No listing begins while so many are being produced. */
  readonly listingsMax: number;
  /** The number of answers that may be blocked, because their clients have not taken a part yet. */
  readonly blockedMax: number;
}

export const WORD_LIMITS: WordLimits = {
  durationMsMax: 2,
  charactersMax: 256 << 10,
  pauseMs: 4,
  listingsMax: 4,
  blockedMax: 16,
};

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
  readonly #limits: WordLimits;
  /** Short answers, in the order in which they continue. */
  readonly #short = new Set<WordAnswer>();
  /** Listings that have begun and are not blocked, in the order in which they continue. */
  readonly #listings = new Set<WordAnswer>();
  /** Answers that wait until their clients take what was written. */
  readonly #blocked: FairSlots<WordAnswer>;
  /** Listings that have not begun yet. */
  readonly #waiting = new Set<WordAnswer>();
  #isListingOwed = false;
  #isDue = false;
  #pauseUntilMs = Number.NEGATIVE_INFINITY;
  #untilMs = 0;
  #charactersLeft = 0;

  constructor(timers: Timers, limits: WordLimits) {
    this.#timers = timers;
    this.#limits = limits;
    this.#blocked = new FairSlots(limits.blockedMax);
  }

  /**
   * Adds an answer. A short one begins in the next slice, a listing once fewer than `listingsMax`
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
    this.#untilMs = beganMs + this.#limits.durationMsMax;
    this.#charactersLeft = this.#limits.charactersMax;
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
    const pauseMs = Math.max(this.#limits.pauseMs, 2 * sliceMs);
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
      if (this.#listings.size >= this.#limits.listingsMax) return;
      this.#waiting.delete(answer);
      this.#listings.add(answer);
    }
  }
}

interface ProtocolSnifferParts {
  readonly stream: ByteStream;
  /** The number of bytes that belong to a word and follow it. */
  argumentBytes(word: FourLetterWord): number;
  /** Makes the answer, at whose end the stream ends. */
  onWord(asked: AskedWord): WordAnswer;
  /** The client has taken everything written so far. */
  onAnswerDrained(answer: WordAnswer): void;
  /** The client sends frames: hands the stream over with all bytes so far, or drops it. */
  onFrames(first: Uint8Array): void;
  /** The client ended its side before it sent a whole word or frame; it may be dropped. */
  onLeft(): void;
  /** Called once when a stream that was not handed over is gone. */
  onClosed(answer: WordAnswer | null): void;
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
  readonly #parts: ProtocolSnifferParts;
  #first: Uint8Array = new Uint8Array(0);
  #answer: WordAnswer | null = null;

  constructor(parts: ProtocolSnifferParts) {
    this.#parts = parts;
  }

  open(): void {
    this.#parts.stream.handle({
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
    this.#parts.stream.destroy();
  }

  #onData(chunk: Uint8Array): void {
    if (this.#answer !== null) return;
    // Copied, because the chunk is only lent.
    this.#first = Buffer.concat([this.#first, chunk]);
    if (this.#first.length < WORD_BYTES) return;
    const first = readFirstBytes(this.#first);
    switch (first.kind) {
      case 'frames':
        this.#parts.onFrames(this.#takeFirst());
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
    const end = WORD_BYTES + this.#parts.argumentBytes(word);
    if (this.#first.length < end) return;
    // Copied, so that nothing else that a stranger sent stays in memory while the answer waits.
    const argument = Uint8Array.from(this.#takeFirst().subarray(WORD_BYTES, end));
    this.#answer = this.#parts.onWord({ word, argument });
  }

  #onDrain(): void {
    if (this.#answer !== null) this.#parts.onAnswerDrained(this.#answer);
  }

  #onEnd(): void {
    if (this.#answer === null) this.#parts.onLeft();
  }

  #onClose(): void {
    this.#answer?.onStreamClosed();
    this.#parts.onClosed(this.#answer);
  }
}
