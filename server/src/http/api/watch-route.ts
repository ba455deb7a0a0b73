/**
 * Changes of a znode, or of everything below it, as Server-Sent Events.
 *
 * Behind each stream is a session of the caller with a persistent watch, so that it hears what a
 * client with those identities hears, and nothing before it has begun. What a slow reader has not
 * taken is bounded: beyond it, `lost` says that the reader must look for itself. The stream ends
 * with the session, as when the member loses its leader; the reader then comes again.
 */

import {
  AddWatchMode,
  AddWatchRequest,
  EventType,
  encode,
  type Int64,
  OpCode,
  type WatcherEvent,
} from '@rookery/protocol';
import { prefixedHex } from '../../net/four-letter/format.js';
import { eventStream, type StreamedEvent } from '../event-stream.js';
import { HttpError } from '../http-error.js';
import type { HttpAnswer } from '../http-port.js';
import type { ApiCall } from './api-call.js';
import type { ApiMember } from './api-member.js';
import { flag, pathOf } from './api-query.js';
import { DataSession } from './data-session.js';
import { readableNode } from './node-facts.js';
import { requireServing } from './node-routes.js';
import { keeperProblem } from './problem.js';

const STREAMS_MAX = 8;
const PENDING_MAX = 1000;
const PING_MS = 8_000;

const KINDS: ReadonlyMap<number, string> = new Map([
  [EventType.created, 'created'],
  [EventType.deleted, 'deleted'],
  [EventType.dataChanged, 'dataChanged'],
  [EventType.childrenChanged, 'childrenChanged'],
]);

export class WatchStreams {
  readonly #member: ApiMember;
  #streams = 0;

  constructor(member: ApiMember) {
    this.#member = member;
  }

  readonly answer = async ({ query, request, caller }: ApiCall): Promise<HttpAnswer> => {
    requireServing(this.#member);
    const path = pathOf(query);
    const isRecursive = flag(query, 'recursive');
    readableNode(this.#member.state, path, caller.requester);
    if (this.#streams >= STREAMS_MAX) {
      throw new HttpError(429, `${STREAMS_MAX} others watch znodes.`, { 'retry-after': '5' });
    }
    this.#streams += 1;
    const changes = new Changes();
    try {
      const open = this.#member.openStream.bind(this.#member);
      const session = await DataSession.open(open, caller.auths, changes);
      const mode = isRecursive ? AddWatchMode.persistentRecursive : AddWatchMode.persistent;
      const body = encode(AddWatchRequest, { path, mode });
      const { error } = await session.request(OpCode.addWatch, body);
      if (error !== 0) {
        session.end();
        throw keeperProblem(error, { path });
      }
      return this.#stream(session, changes, request.signal);
    } catch (problem) {
      this.#streams -= 1;
      throw problem;
    }
  };

  #stream(session: DataSession, changes: Changes, signal: AbortSignal): HttpAnswer {
    const timer = setInterval(() => session.ping(), PING_MS);
    const close = async (): Promise<void> => {
      clearInterval(timer);
      session.end();
      this.#streams -= 1;
    };
    const ended = AbortSignal.any([signal, changes.ended]);
    const onNews = (wake: () => void) => changes.onNews(wake);
    return { ...eventStream(() => changes.take(), { signal: ended, onNews }), close };
  }
}

class Changes {
  readonly #ended = new AbortController();
  #pending: StreamedEvent[] = [{ id: '', event: 'watching', data: {} }];
  #wake = (): void => undefined;

  /** Aborted when nothing more is heard. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  onEvent({ type, path }: WatcherEvent, zxid: Int64): void {
    const kind = KINDS.get(type);
    if (kind === undefined) return;
    if (this.#pending.length >= PENDING_MAX) {
      this.#pending = [{ id: '', event: 'lost', data: { zxid: prefixedHex(zxid) } }];
    }
    this.#pending.push({ id: '', event: 'change', data: { kind, path, zxid: prefixedHex(zxid) } });
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
    return taken;
  }
}
