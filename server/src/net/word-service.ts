/**
 * Answers the four-letter words that arrive at the client port.
 *
 * It makes an answer and passes it to the scheduler, which produces it over several turns. What the
 * word may read is collected when the first piece is taken, which for a listing may be long after
 * the question; the list of connections is read while clients come and go. Owned by the client
 * port.
 */
import { ErrorCode } from '@rookery/protocol';
import { type FourLetterWord, isListing } from '../config/four-letter-words.js';
import type { AuditSink } from '../pipeline/audit.js';
import { plainAddress } from '../security/address-group.js';
import { atMost } from '../state/at-most.js';
import type { ClientConnection } from './client-connection.js';
import type { ConnectionView } from './four-letter/context.js';
import { type AskedWord, replyToWord } from './four-letter/reply.js';
import { type FourLetterWhitelist, TRACE_MASK_BYTES } from './four-letter/words.js';
import type { MemberView } from './member-view.js';
import type { RateLimitedLog } from './rate-limited-log.js';
import { ConnectionStats, type ServerStats } from './server-stats.js';
import type { Timers } from './timers.js';
import type { ByteStream } from './transport.js';
import { WordAnswer } from './word-answer.js';
import { type WordLimits, WordScheduler } from './word-scheduler.js';

export interface WordServiceParts {
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
