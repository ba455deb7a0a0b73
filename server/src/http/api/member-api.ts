/**
 * The routes of `/api/v1` that a member answers, from the state that it has applied.
 */
import type { Logger } from 'pino';
import type { ServerAddress } from '../../config.js';
import type { ApiRoutes } from './api-call.js';
import type { ApiMember } from './api-member.js';
import { MemberNodes } from './member-nodes.js';
import { MemberRecipes } from './member-recipes.js';
import { MemberRoutes } from './member-routes.js';
import { memberSearch } from './member-search.js';
import { NodeReads } from './node-routes.js';
import type { OtherMembers } from './other-members.js';
import { recipeRoute, recipesRoute } from './recipe-routes.js';
import { Scans, searchRoute } from './search-route.js';
import { SessionRoutes } from './session-routes.js';
import { sessionWatches } from './session-watch.js';
import { sessionWriters } from './session-writer.js';
import { WatchStreams } from './watch-route.js';
import { NodeWrites } from './write-routes.js';

export interface MemberApiParts {
  readonly member: ApiMember;
  readonly others: OtherMembers;
  readonly servers: readonly ServerAddress[];
  readonly logger: Logger;
}

export function memberRoutes({ member, others, servers, logger }: MemberApiParts): ApiRoutes {
  const reads = new NodeReads(new MemberNodes(member));
  const writes = new NodeWrites(sessionWriters(member), logger);
  const sessions = new SessionRoutes(member, others, logger);
  const members = new MemberRoutes(member, servers, others);
  const scans = new Scans();
  const recipes = new MemberRecipes(member, others);
  return {
    '/members': { GET: members.list },
    '/members/{id}': { GET: members.one },
    '/node': { GET: reads.facts, POST: writes.create, DELETE: writes.remove },
    '/node/data': { GET: reads.data, PUT: writes.setData },
    '/node/acl': { GET: reads.acl, PUT: writes.setAcl },
    '/children': { GET: reads.children },
    '/search': { GET: searchRoute(memberSearch(member), scans) },
    '/recipe': { GET: recipeRoute(recipes) },
    '/recipes': { GET: recipesRoute(recipes, scans) },
    '/watch': { GET: new WatchStreams(sessionWatches(member)).answer },
    '/sessions': { GET: sessions.list },
    '/sessions/{id}': { GET: sessions.one, DELETE: sessions.end },
    '/watches': { GET: sessions.watches },
  };
}
