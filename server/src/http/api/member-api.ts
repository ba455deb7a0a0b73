/**
 * The routes of `/api/v1` that a member answers, from the state that it has applied.
 */
import type { Logger } from 'pino';
import type { ServerAddress } from '../../config.js';
import type { ApiRoutes } from './api-call.js';
import type { ApiMember } from './api-member.js';
import { MemberRoutes } from './member-routes.js';
import { NodeReads } from './node-routes.js';
import type { OtherMembers } from './other-members.js';
import { recipeRoute, recipesRoute } from './recipe-routes.js';
import { Scans, searchRoute } from './search-route.js';
import { SessionRoutes } from './session-routes.js';
import { WatchStreams } from './watch-route.js';
import { NodeWrites } from './write-routes.js';

export interface MemberApiParts {
  readonly member: ApiMember;
  readonly others: OtherMembers;
  readonly servers: readonly ServerAddress[];
  readonly logger: Logger;
}

export function memberRoutes({ member, others, servers, logger }: MemberApiParts): ApiRoutes {
  const reads = new NodeReads(member);
  const writes = new NodeWrites(member, logger);
  const sessions = new SessionRoutes(member, others, logger);
  const members = new MemberRoutes(member, servers, others);
  const scans = new Scans();
  return {
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
  };
}
