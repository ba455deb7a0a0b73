/**
 * A call of `/api/v1`: what a route gets and answers, and how it reads its parameters, independent
 * of where its facts come from.
 */

import { plainHexId, validatePath } from '@rookery/protocol';
import type { HttpAnswer, HttpRequest } from '../http-port.js';
import type { Caller } from './caller.js';
import { badRequest } from './problem.js';

export interface ApiCall {
  readonly request: HttpRequest;
  readonly query: URLSearchParams;
  readonly caller: Caller;
  /** The segments of the path that the route leaves open, in their order. */
  readonly names: readonly string[];
}

/** May throw HttpError. */
export type ApiRoute = (call: ApiCall) => HttpAnswer | Promise<HttpAnswer>;

/** The methods of one path; a last segment in braces stands for a name. */
export type ApiMethods = Readonly<Partial<Record<ApiMethod, ApiRoute>>>;
type ApiMethod = 'GET' | 'PUT' | 'POST' | 'DELETE';

export type ApiRoutes = Readonly<Record<string, ApiMethods>>;

export function jsonAnswer(
  value: unknown,
  {
    status = 200,
    headers = {},
  }: { status?: number; headers?: Readonly<Record<string, string>> } = {},
): HttpAnswer {
  return { status, type: 'application/json', body: `${JSON.stringify(value)}\n`, headers };
}

/**
 * The parameters of a request of `/api/v1`, judged one by one.
 *
 * Every reader throws HttpError 400 with a sentence that names the parameter and what was expected.
 * A znode is named in the query, not in the path of the URL, because its name may hold `%`, `?` and
 * `#`.
 */
export function pathOf(query: URLSearchParams, name = 'path'): string {
  const path = query.get(name);
  if (path === null) throw badRequest(`${name}: expected the path of a znode.`);
  const wrong = validatePath(path);
  if (wrong !== null) throw badRequest(`${name}: ${wrong}.`);
  return path;
}

/** The path, or the root where there is none. */
export function pathOrRoot(query: URLSearchParams): string {
  return query.has('path') ? pathOf(query) : '/';
}

export function wholeNumber(
  query: URLSearchParams,
  name: string,
  bounds: { readonly min?: number; readonly max?: number; readonly otherwise: number },
): number {
  const text = query.get(name);
  const { min = 0, max = Number.MAX_SAFE_INTEGER, otherwise } = bounds;
  if (text === null) return otherwise;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw badRequest(`${name}: expected a whole number from ${min} to ${max}.`);
}

/** `1`, `true` and the bare name for yes. */
export function flag(query: URLSearchParams, name: string): boolean {
  const text = query.get(name);
  if (text === null || text === 'false' || text === '0') return false;
  if (text === '' || text === 'true' || text === '1') return true;
  throw badRequest(`${name}: expected true or false.`);
}

export function oneOf<T extends string>(
  query: URLSearchParams,
  name: string,
  known: readonly T[],
  otherwise: T,
): T {
  const text = query.get(name);
  if (text === null) return otherwise;
  const found = known.find((one) => one === text);
  if (found === undefined) throw badRequest(`${name}: expected one of ${known.join(', ')}.`);
  return found;
}

/** A session as this API writes it, `0x` and hex digits; null where the parameter is absent. */
export function sessionIn(text: string | null, name: string): string | null {
  if (text === null) return null;
  const session = plainHexId(text);
  if (session !== null) return session;
  throw badRequest(`${name}: expected a session, as in 0x1a0000002b.`);
}

/** The same as a number, as a member of Rookery has it; 0, which is no session, for none. */
export function sessionNumberIn(text: string | null, name: string): number {
  const value = Number(sessionIn(text, name) ?? 0);
  return Number.isSafeInteger(value) ? value : 0;
}
