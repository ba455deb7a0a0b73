/**
 * `/api/v1`: which route answers which path and method, and that every error is a problem in JSON.
 *
 * The caller has been let in by then (`admin-access.ts`). With `adminReadOnly` nothing that changes
 * anything is a route. docs/operations/openapi.json describes all of them, which a test checks.
 */
import type { Logger } from 'pino';
import type { ServerAddress } from '../../config.js';
import { HttpError } from '../http-error.js';
import type { HttpLogins } from '../http-logins.js';
import type { HttpAnswer, HttpRequest } from '../http-port.js';
import {
  type ApiMember,
  type ApiMethods,
  type ApiRoute,
  type ApiRoutes,
  jsonAnswer,
} from './api-member.js';
import { type CallerRules, Callers } from './caller.js';
import { MemberRoutes } from './member-routes.js';
import { NodeReads } from './node-routes.js';
import type { OtherMembers } from './other-members.js';
import { problemAnswer } from './problem.js';
import { recipeRoute, recipesRoute } from './recipe-routes.js';
import { Scans, searchRoute } from './search-route.js';
import { SessionRoutes } from './session-routes.js';
import { WatchStreams } from './watch-route.js';
import { NodeWrites } from './write-routes.js';

export const API = '/api/v1';

export interface ApiParts {
  readonly member: ApiMember;
  readonly others: OtherMembers;
  readonly servers: readonly ServerAddress[];
  readonly rules: CallerRules;
  readonly logins: HttpLogins;
  readonly isReadOnly: boolean;
  readonly logger: Logger;
  /** Further routes, by their paths below `/api/v1`. */
  readonly more: ApiRoutes;
}

export class Api {
  readonly routes: ApiRoutes;
  readonly #callers: Callers;
  readonly #isReadOnly: boolean;

  constructor(parts: ApiParts) {
    const { member, logger, others } = parts;
    this.#isReadOnly = parts.isReadOnly;
    this.#callers = new Callers(parts.rules, parts.logins);
    const reads = new NodeReads(member);
    const writes = new NodeWrites(member, logger);
    const sessions = new SessionRoutes(member, others, logger);
    const members = new MemberRoutes(member, parts.servers, others);
    const scans = new Scans();
    this.routes = {
      '': { GET: this.#index },
      '/members': { GET: members.list },
      '/members/{id}': { GET: members.one },
      '/node': { GET: reads.facts, POST: writes.create, DELETE: writes.remove },
      '/node/data': { GET: reads.data, PUT: writes.setData },
      '/node/acl': { GET: reads.acl, PUT: writes.setAcl },
      '/children': { GET: reads.children },
      '/search': { GET: searchRoute(member, scans) },
      '/recipe': { GET: recipeRoute(member, others) },
      '/recipes': { GET: recipesRoute(member, scans) },
      '/watch': { GET: new WatchStreams(member).answer },
      '/sessions': { GET: sessions.list },
      '/sessions/{id}': { GET: sessions.one, DELETE: sessions.end },
      '/watches': { GET: sessions.watches },
      ...parts.more,
    };
  }

  /** `user` is a user of the admin port. Never throws HttpError: a refusal is an answer, too. */
  async answer(request: HttpRequest, user: string | null): Promise<HttpAnswer> {
    try {
      const { query } = request;
      const { methods, names } = this.#find(request.path.slice(API.length).replace(/\/$/, ''));
      const route = this.#routeOf(methods, request.method);
      const caller = this.#callers.callerOf(request, user);
      return await route({ request, query, caller, names });
    } catch (error) {
      if (error instanceof HttpError) return problemAnswer(error);
      throw error;
    }
  }

  readonly #index: ApiRoute = ({ caller }) =>
    jsonAnswer({
      user: caller.user,
      identities: caller.requester.identities.map(({ scheme, id }) => ({
        scheme,
        id: id.replace(/:.*/s, ''),
      })),
      readOnly: this.#isReadOnly,
      paths: Object.fromEntries(
        Object.entries(this.routes).map(([path, methods]) => [
          `${API}${path}`,
          Object.keys(methods),
        ]),
      ),
    });

  #find(path: string): { readonly methods: ApiMethods; readonly names: readonly string[] } {
    const known = Object.hasOwn(this.routes, path) ? this.routes[path] : undefined;
    if (known !== undefined) return { methods: known, names: [] };
    const slash = path.lastIndexOf('/');
    const named = `${path.slice(0, slash)}/{id}`;
    const methods = Object.hasOwn(this.routes, named) ? this.routes[named] : undefined;
    if (methods === undefined) throw new HttpError(404, `There is no ${API}${path}.`);
    return { methods, names: [path.slice(slash + 1)] };
  }

  #routeOf(methods: ApiMethods, method: string): ApiRoute {
    const asked = method === 'HEAD' ? 'GET' : method;
    const allowed = Object.keys(methods).filter((one) => one === 'GET' || !this.#isReadOnly);
    const route = Object.entries(methods).find(([one]) => one === asked)?.[1];
    const allow = allowed.flatMap((one) => (one === 'GET' ? ['GET', 'HEAD'] : [one])).join(', ');
    if (route === undefined) {
      throw new HttpError(405, `Expected ${allow}, got ${method}.`, { allow });
    }
    if (asked !== 'GET' && this.#isReadOnly) {
      throw new HttpError(403, 'This port is for reading only (adminReadOnly).', { allow });
    }
    return route;
  }
}
