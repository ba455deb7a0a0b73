/**
 * The client of `/api/v1`, which everything in the console asks by.
 *
 * The API is found beside the page, so the console works below any prefix. A refusal is thrown as
 * ApiProblem with the server's sentence; an aborted request throws the browser's AbortError.
 */
import { type Credentials, headersOf } from './credentials.js';
import { ApiProblem, isAborted, problemOf } from './problem.js';
import { eventsOf, linesOf, type ServerEvent } from './streams.js';
import type { ApiIndex } from './types.js';

type Value = string | number | boolean;
/** A list is a parameter that is given once for each of its elements. */
export type Query = Readonly<Record<string, Value | readonly Value[] | null | undefined>>;
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

export interface Asked {
  readonly query?: Query;
  readonly body?: Uint8Array<ArrayBuffer>;
  /** The version that was read, or `*`. */
  readonly match?: number | '*';
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

export class Api {
  readonly #base: string;
  readonly #credentials: Credentials;

  /** `base` is the address of `/api/v1`, without a slash at its end. */
  constructor(base: string, credentials: Credentials) {
    this.#base = base;
    this.#credentials = credentials;
  }

  get credentials(): Credentials {
    return this.#credentials;
  }

  index(signal?: AbortSignal): Promise<ApiIndex> {
    return this.get<ApiIndex>('', {}, signal);
  }

  /** The JSON of a path below `/api/v1`. */
  async get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
    const response = await this.ask('GET', path, { query, signal });
    return (await response.json()) as T;
  }

  /** The JSON of the answer to a write; null if it has no body. */
  async write<T>(method: Method, path: string, asked: Asked): Promise<T | null> {
    const text = await (await this.ask(method, path, asked)).text();
    return text === '' ? null : (JSON.parse(text) as T);
  }

  /** Each line of a stream of JSON lines. */
  async *lines<T>(path: string, query: Query, signal: AbortSignal): AsyncGenerator<T> {
    const { body } = await this.ask('GET', path, { query, signal });
    if (body === null) return;
    for await (const line of linesOf(body)) if (line !== '') yield JSON.parse(line) as T;
  }

  /** A stream of events; it ends when the server ends it, and the caller may come again. */
  async *events(
    path: string,
    query: Query,
    { signal, lastEventId = '' }: { readonly signal: AbortSignal; readonly lastEventId?: string },
  ): AsyncGenerator<ServerEvent> {
    const resumed = lastEventId === '' ? {} : { 'Last-Event-ID': lastEventId };
    const headers = { Accept: 'text/event-stream', ...resumed };
    const { body } = await this.ask('GET', path, { query, signal, headers });
    if (body !== null) yield* eventsOf(body);
  }

  /** The answer as it is. Throws ApiProblem for anything but a success. */
  async ask(method: Method, path: string, asked: Asked = {}): Promise<Response> {
    const { match, body, signal } = asked;
    const headers: Record<string, string> = { ...headersOf(this.#credentials), ...asked.headers };
    if (match !== undefined) headers['If-Match'] = match === '*' ? '*' : `"${match}"`;
    if (body !== undefined) headers['Content-Type'] = 'application/octet-stream';
    const address = `${this.#base}${path}${queryText(asked.query ?? {})}`;
    let response: Response;
    try {
      response = await fetch(address, {
        method,
        headers,
        cache: 'no-store',
        credentials: 'omit',
        redirect: 'error',
        ...(body === undefined ? {} : { body }),
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (error) {
      if (isAborted(error)) throw error;
      throw new ApiProblem({ status: 0, detail: 'The server does not answer.' });
    }
    if (response.ok) return response;
    throw await problemOf(response);
  }
}

/** The version in an answer's `ETag`; -1 if it has none. */
export function versionOf(response: Response): number {
  return Number(/^(?:W\/)?"(\d+)"$/.exec(response.headers.get('etag') ?? '')?.[1] ?? -1);
}

/** The address of the API of the server that this page came from. */
export function apiBase(pageAddress: string): string {
  const { origin, pathname } = new URL('../api/v1', pageAddress);
  return `${origin}${pathname}`;
}

function queryText(query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, value]) => {
    if (value === undefined || value === null) return [];
    const values = typeof value === 'object' ? value : [value];
    return values.map((one) => `${name}=${encodeURIComponent(one)}`);
  });
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}
