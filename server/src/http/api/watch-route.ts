/**
 * Changes of a znode, or of everything below it, as Server-Sent Events.
 *
 * Behind each stream is a persistent watch of the caller, so that it hears what a client with those
 * identities hears, and nothing before it has begun. What a slow reader has not taken is bounded:
 * beyond it, `lost` says that the reader must look for itself. Where the watch ends, so does the
 * stream, as when a member loses its leader; the reader then comes again.
 */
import { eventStream, type StreamedEvent, StreamPlaces } from '../event-stream.js';
import type { HttpAnswer } from '../http-port.js';
import type { ApiCall } from './api-call.js';
import { flag, pathOf } from './api-call.js';
import { askerOf, type Caller } from './caller.js';

const STREAMS_MAX = 8;
/** The changes that wait for a reader, and the characters of their paths. */
const PENDING_MAX = 1000;
const PENDING_CHARACTERS_MAX = 1_000_000;

export interface Change {
  readonly kind: 'created' | 'deleted' | 'dataChanged' | 'childrenChanged';
  readonly path: string;
  /** In hex; null where the server does not tell it. */
  readonly zxid: string | null;
}

/** Receives the changes that a watch sees. */
export interface Hearing {
  onChange(change: Change): void;
  /** Changes may have been missed. */
  onLost(facts: object): void;
  /** Nothing more is heard. */
  onEnd(): void;
}

interface WatchAsked {
  readonly path: string;
  readonly isRecursive: boolean;
  readonly caller: Caller;
}

/** Resolves, once it watches, with what ends the watch. Throws HttpError. */
export type OpenWatch = (asked: WatchAsked, hearing: Hearing) => Promise<() => void>;

export class WatchStreams {
  readonly #open: OpenWatch;
  readonly #places = new StreamPlaces(STREAMS_MAX, {
    what: 'watch znodes',
    otherwise: 'ask another member, or ask again later',
  });

  constructor(open: OpenWatch) {
    this.#open = open;
  }

  readonly answer = async ({ query, request, caller }: ApiCall): Promise<HttpAnswer> => {
    const asked = { path: pathOf(query), isRecursive: flag(query, 'recursive'), caller };
    const giveBack = this.#places.take(askerOf(caller));
    const changes = new Changes();
    try {
      const end = await this.#open(asked, changes);
      const close = async (): Promise<void> => {
        end();
        giveBack();
      };
      const signal = AbortSignal.any([request.signal, changes.ended]);
      const onNews = (wake: () => void) => changes.onNews(wake);
      return { ...eventStream(() => changes.take(), { signal, onNews }), close };
    } catch (problem) {
      giveBack();
      throw problem;
    }
  };
}

class Changes implements Hearing {
  readonly #ended = new AbortController();
  #pending: StreamedEvent[] = [{ id: '', event: 'watching', data: {} }];
  #characters = 0;
  #wake = (): void => undefined;

  /** Aborted when nothing more is heard. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  onChange(change: Change): void {
    const { path, zxid } = change;
    const isFull =
      this.#pending.length >= PENDING_MAX ||
      (this.#characters > 0 && this.#characters + path.length > PENDING_CHARACTERS_MAX);
    if (isFull) this.onLost({ zxid });
    this.#characters += path.length;
    this.#pending.push({ id: '', event: 'change', data: change });
    this.#wake();
  }

  onLost(facts: object): void {
    this.#pending = [{ id: '', event: 'lost', data: facts }];
    this.#characters = 0;
    this.#wake();
  }

  onEnd(): void {
    this.#ended.abort();
  }

  onNews(wake: () => void): () => void {
    this.#wake = wake;
    return () => {
      this.#wake = () => undefined;
    };
  }

  take(): readonly StreamedEvent[] {
    const taken = this.#pending;
    this.#pending = [];
    this.#characters = 0;
    return taken;
  }
}
