/**
 * The events of all members as they happen, or of the one member that can tell.
 *
 * They come as a stream. It is followed again from where it ended, and where the server has too
 * many readers already, it is asked for the events after the last ones instead. Both ways give
 * events with their members, and neither gives one twice.
 */
import { useEffect, useState } from 'react';
import type { Api } from '../api/api.js';
import { isAborted, statusOf } from '../api/problem.js';
import { pause } from '../live/pause.js';
import { EventStore } from './event-store.js';
import type { MemberEvent } from './member-event.js';

export interface LiveEvents {
  /** The oldest first. */
  readonly events: readonly MemberEvent[];
  readonly isAsked: boolean;
  /** Members that do not answer, so that their events are missing. */
  readonly silent: readonly number[];
  /** How many are known to be missing between those that are here. */
  readonly lost: number;
  readonly error: unknown;
}

interface Answer {
  readonly events: readonly MemberEvent[];
  readonly places?: string;
  readonly silent?: readonly number[];
  readonly lost?: Readonly<Record<string, number>>;
}

const AGAIN_MS = 1_000;
const TOO_MANY = 429;
const NOTHING: LiveEvents = { events: [], isAsked: false, silent: [], lost: 0, error: null };

export function useEvents(api: Api): LiveEvents {
  const [state, setState] = useState(NOTHING);
  useEffect(() => {
    const ended = new AbortController();
    const feed = new Feed(api, ended.signal, setState);
    feed.run().catch(reportError);
    return () => ended.abort();
  }, [api]);
  return state;
}

class Feed {
  readonly #api: Api;
  readonly #signal: AbortSignal;
  readonly #tell: (change: (before: LiveEvents) => LiveEvents) => void;
  readonly #store = new EventStore();
  #places = '';

  constructor(
    api: Api,
    signal: AbortSignal,
    tell: (change: (before: LiveEvents) => LiveEvents) => void,
  ) {
    this.#api = api;
    this.#signal = signal;
    this.#tell = tell;
  }

  async run(): Promise<void> {
    while (!this.#signal.aborted) {
      try {
        await this.#ask();
        await this.#follow();
      } catch (error) {
        if (this.#signal.aborted || isAborted(error)) return;
        // Where the stream is refused for having too many readers, asking again serves instead.
        if (statusOf(error) !== TOO_MANY) this.#tell((before) => ({ ...before, error }));
      }
      await pause(AGAIN_MS, this.#signal);
    }
  }

  /** Events up to now; the stream does not say who is silent. */
  async #ask(): Promise<void> {
    const query = { members: 'all', places: this.#places };
    const answer = await this.#api.get<Answer>('/events', query, this.#signal);
    const { silent = [], lost = {}, places = '' } = answer;
    this.#places = places;
    this.#store.add(answer.events);
    const { events } = this.#store;
    const gone = Object.values(lost).reduce((sum, count) => sum + count, 0);
    this.#tell((before) => ({
      events,
      silent,
      isAsked: true,
      error: null,
      lost: before.lost + gone,
    }));
  }

  async #follow(): Promise<void> {
    const stream = this.#api.events(
      '/events',
      { members: 'all' },
      { signal: this.#signal, lastEventId: this.#places },
    );
    for await (const { id, event, data } of stream) {
      if (id !== '') this.#places = id;
      if (event !== 'event') continue;
      const told = JSON.parse(data) as MemberEvent;
      if (!this.#store.add([told])) continue;
      const { events } = this.#store;
      this.#tell((before) => {
        // Whoever tells something is no longer silent.
        const silent = before.silent.filter((member) => member !== told.member);
        return { ...before, events, silent };
      });
    }
  }
}
