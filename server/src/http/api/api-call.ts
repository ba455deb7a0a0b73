/**
 * What a route of `/api/v1` gets and answers, wherever it takes its facts from.
 */
import type { HttpAnswer, HttpRequest } from '../http-port.js';
import type { Caller } from './caller.js';

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
export type ApiMethod = 'GET' | 'PUT' | 'POST' | 'DELETE';

export type ApiRoutes = Readonly<Record<string, ApiMethods>>;

export function jsonAnswer(
  value: unknown,
  { status = 200, headers = {} }: Partial<Pick<HttpAnswer, 'status' | 'headers'>> = {},
): HttpAnswer {
  return { status, type: 'application/json', body: `${JSON.stringify(value)}\n`, headers };
}
