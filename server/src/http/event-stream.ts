/**
 * Server-Sent Events: a stream of text that ends when its reader is gone, and how many readers may
 * follow one.
 *
 * Nothing waits in memory for a slow reader: the source of the events is asked for the next ones
 * when those before have been taken. An empty comment is sent now and then, so that the connection
 * counts as used and a proxy does not close it. StreamPlaces caps open streams.
 */
import { type HttpAnswer, HttpError } from './http-port.js';

const KEEP_ALIVE_MS = 10_000;

export interface StreamedEvent {
  /** The id that `Last-Event-ID` repeats after a lost connection; '' keeps the one before. */
  readonly id: string;
  readonly event: string;
  readonly data: unknown;
}

/** Returns the next events; an empty list if there are no newer ones. */
type TakeEvents = () => readonly StreamedEvent[] | Promise<readonly StreamedEvent[]>;

/** `onNews` takes a function to call when there may be more, and returns how to stop that. */
export function eventStream(
  take: TakeEvents,
  at: { readonly signal: AbortSignal; onNews(wake: () => void): () => void },
): HttpAnswer {
  return {
    status: 200,
    type: 'text/event-stream',
    headers: { 'x-accel-buffering': 'no' },
    body: eventText(take, at),
  };
}

async function* eventText(
  take: TakeEvents,
  { signal, onNews }: { readonly signal: AbortSignal; onNews(wake: () => void): () => void },
): AsyncGenerator<Uint8Array> {
  let isNews = false;
  let endWait = (): void => undefined;
  const wake = (): void => {
    isNews = true;
    endWait();
  };
  const stop = onNews(wake);
  signal.addEventListener('abort', wake, { once: true });
  try {
    yield Buffer.from('retry: 2000\n\n');
    while (!signal.aborted) {
      isNews = false;
      const text = (await take()).map(written).join('');
      if (text !== '') {
        yield Buffer.from(text);
        continue;
      }
      if (isNews) continue;
      const isQuiet = await new Promise<boolean>((resolve) => {
        const timer = setTimeout(() => resolve(true), KEEP_ALIVE_MS);
        endWait = () => {
          clearTimeout(timer);
          resolve(false);
        };
      });
      if (isQuiet) yield Buffer.from(':\n\n');
    }
  } finally {
    stop();
  }
}

/** JSON has no line feeds in it. */
function written({ id, event, data }: StreamedEvent): string {
  const head = id === '' ? '' : `id: ${id}\n`;
  return `${head}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

const OF_ASKER = 3 / 4;
const RETRY_AFTER = { 'retry-after': '5' };

/**
 * The places of those who follow one kind of stream at a port.
 *
 * Caps open streams; one client gets at most 75 %, so a client that opens streams without end
 * leaves room for others. A place is taken until its stream ends.
 */
export class StreamPlaces {
  readonly #max: number;
  readonly #refusal: { readonly what: string; readonly otherwise: string };
  /** The places of each asker that has any. */
  readonly #taken = new Map<string, number>();
  #count = 0;

  /**
   * A refusal says `what` readers do (`follow the events`), and what a reader can do `otherwise`
   * while all places are taken.
   */
  constructor(max: number, refusal: { readonly what: string; readonly otherwise: string }) {
    this.#max = max;
    this.#refusal = refusal;
  }

  /** Returns how to give the place back, which is done once. Throws HttpError if none is free. */
  take(asker: string): () => void {
    const max = this.#max;
    const { what, otherwise } = this.#refusal;
    const own = this.#taken.get(asker) ?? 0;
    if (own >= Math.floor(max * OF_ASKER)) {
      const sentence = `You ${what} ${own} times here already: end one of these streams first.`;
      throw new HttpError(429, sentence, RETRY_AFTER);
    }
    if (this.#count >= max) {
      const sentence = `${max} readers ${what} here already: ${otherwise}.`;
      throw new HttpError(429, sentence, RETRY_AFTER);
    }
    this.#taken.set(asker, own + 1);
    this.#count += 1;
    return () => this.#giveBack(asker);
  }

  #giveBack(asker: string): void {
    const left = (this.#taken.get(asker) ?? 1) - 1;
    if (left === 0) this.#taken.delete(asker);
    else this.#taken.set(asker, left);
    this.#count -= 1;
  }
}
