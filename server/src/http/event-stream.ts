/**
 * Server-Sent Events: a stream of text that ends when the one who asked is gone.
 *
 * Nothing waits in memory for a slow reader: whoever makes the events is asked for the next ones
 * when those before have been taken. An empty comment is sent now and then, so that the connection
 * counts as used and a proxy does not close it.
 */
import type { HttpAnswer } from './http-port.js';

const KEEP_ALIVE_MS = 10_000;

export interface StreamedEvent {
  /** The id that `Last-Event-ID` repeats after a lost connection; '' keeps the one before. */
  readonly id: string;
  readonly event: string;
  readonly data: unknown;
}

/** Returns the next events; an empty list if there are no newer ones. */
export type TakeEvents = () => readonly StreamedEvent[] | Promise<readonly StreamedEvent[]>;

/** `onNews` is told a function that is to be called when there may be more; returns its end. */
export function eventStream(
  take: TakeEvents,
  at: { readonly signal: AbortSignal; onNews(wake: () => void): () => void },
): Pick<HttpAnswer, 'status' | 'type' | 'body' | 'headers'> {
  return {
    status: 200,
    type: 'text/event-stream',
    headers: { 'x-accel-buffering': 'no' },
    body: textOf(take, at),
  };
}

async function* textOf(
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
