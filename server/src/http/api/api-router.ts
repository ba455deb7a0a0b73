/**
 * Routes `/api/v1` by path and method, gives each caller only what that caller may have, and makes
 * every error a problem in JSON.
 *
 * The caller has already been admitted (`admin-access.ts`). What a caller may not do is refused
 * here, and the index does not list it for that caller. docs/operations/openapi.json describes
 * all paths of a member, which a test checks. Knows nothing of where the routes take their facts
 * from: a member has its routes (`member-api.ts`), and `rookery console` its own.
 */
import type { DigestAlg } from '@rookery/protocol';
import { shownIdentities } from '../../driver/member-answers.js';
import type { Admitted } from '../admin-access.js';
import type { Asker } from '../admin-audit.js';
import type { HttpAnswer, HttpRequest } from '../http-port.js';
import { HttpError } from '../http-port.js';
import { type ApiMethods, type ApiRoute, type ApiRoutes, jsonAnswer } from './api-call.js';
import type { Callers } from './caller.js';
import { problemAnswer } from './problem.js';

export const API = '/api/v1';

/** What only users with a name may have, with the sentence for those who have none. */
const FOR_USERS: ReadonlyMap<string, string> = new Map([
  ['GET /backup', 'A backup holds all data: configure adminUsers first.'],
  ['DELETE /sessions/{id}', 'Ending a session needs a user: configure adminUsers first.'],
]);
/** It shows data whatever ACLs say, so it is more than reading. */
const BACKUP = '/backup';

interface Found {
  /** As the routes have it: a last segment in braces stands for a name. */
  readonly path: string;
  readonly methods: ApiMethods;
  readonly names: readonly string[];
}

export class Api {
  readonly #own: ApiRoutes = { '': { GET: (call) => this.#index(call) } };
  readonly #more: () => ApiRoutes;
  readonly #callers: Callers;
  readonly #onRefused: (caller: Asker, asked: string) => void;
  readonly #readOnly: string | null;
  readonly #digestAlgs: readonly DigestAlg[] | null;

  /**
   * `routes` are those at the moment, by their paths below `/api/v1`. `readOnly` is the sentence
   * that refuses all changes, or null where they are allowed. `digestAlgs` are the hashes by which
   * a password proves a digest, the one for new ACLs first; null where they are not known.
   * `onRefused` gets the method and path that a caller may not use.
   */
  constructor(
    routes: () => ApiRoutes,
    callers: Callers,
    rules: { readonly readOnly: string | null; readonly digestAlgs: readonly DigestAlg[] | null },
    onRefused: (caller: Asker, asked: string) => void = () => undefined,
  ) {
    this.#more = routes;
    this.#callers = callers;
    this.#readOnly = rules.readOnly;
    this.#digestAlgs = rules.digestAlgs;
    this.#onRefused = onRefused;
  }

  /** Never throws HttpError: a refusal is an answer, too. */
  async answer(request: HttpRequest, admitted: Admitted): Promise<HttpAnswer> {
    try {
      const { query } = request;
      const found = this.#find(request.path.slice(API.length).replace(/\/$/, ''));
      const { user } = admitted;
      const asker = { user, remoteAddress: request.remoteAddress };
      const route = this.#routeOf(found, request.method, { ...admitted, ...asker });
      const caller = this.#callers.callerOf(request, admitted);
      return await route({ request, query, caller, names: found.names });
    } catch (error) {
      if (error instanceof HttpError) return problemAnswer(error);
      throw error;
    }
  }

  get #routes(): ApiRoutes {
    return { ...this.#own, ...this.#more() };
  }

  #index({ caller }: Parameters<ApiRoute>[0]): HttpAnswer {
    const paths = Object.entries(this.#routes).map(([path, methods]): [string, string[]] => {
      const open = Object.keys(methods).filter((one) => this.#refusal(path, one, caller) === null);
      return [`${API}${path}`, open];
    });
    return jsonAnswer({
      user: caller.user,
      identities: shownIdentities(caller.requester.identities),
      readOnly: this.#readOnly !== null || !caller.mayChange,
      digestAlgs: this.#digestAlgs,
      paths: Object.fromEntries(paths.filter(([, methods]) => methods.length > 0)),
    });
  }

  /** The sentence with which a caller is refused; null if he is not. */
  #refusal(path: string, method: string, { user, mayChange }: Admitted): string | null {
    const isRead = method === 'GET';
    if (!isRead && this.#readOnly !== null) return this.#readOnly;
    if (!mayChange && !(isRead && path !== BACKUP)) return 'This user may only read.';
    return user === null ? (FOR_USERS.get(`${method} ${path}`) ?? null) : null;
  }

  #find(path: string): Found {
    const routes = this.#routes;
    const known = Object.hasOwn(routes, path) ? routes[path] : undefined;
    if (known !== undefined) return { path, methods: known, names: [] };
    const slash = path.lastIndexOf('/');
    const named = `${path.slice(0, slash)}/{id}`;
    const methods = Object.hasOwn(routes, named) ? routes[named] : undefined;
    if (methods === undefined) throw new HttpError(404, `There is no ${API}${path}.`);
    return { path: named, methods, names: [path.slice(slash + 1)] };
  }

  #routeOf({ path, methods }: Found, method: string, asker: Admitted & Asker): ApiRoute {
    const asked = method === 'HEAD' ? 'GET' : method;
    const route = Object.entries(methods).find(([one]) => one === asked)?.[1];
    if (route === undefined) {
      const known = Object.keys(methods);
      const allow = known.flatMap((one) => (one === 'GET' ? ['GET', 'HEAD'] : [one])).join(', ');
      throw new HttpError(405, `Expected ${allow}, got ${method}.`, { allow });
    }
    const refusal = this.#refusal(path, asked, asker);
    if (refusal !== null) {
      this.#onRefused(asker, `${asked} ${path}`);
      throw new HttpError(403, refusal);
    }
    return route;
  }
}
