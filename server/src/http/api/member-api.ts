/**
 * The routes of `/api/v1` that a member answers, from the state that it has applied.
 */
import type { Acl } from '@rookery/protocol';
import type { Logger } from 'pino';
import type { ServerAddress } from '../../config/config.js';
import type { AdminAudit } from '../admin-audit.js';
import type { ApiRoutes } from './api-call.js';
import type { ApiMember } from './api-member.js';
import { HotRoutes } from './hot-routes.js';
import { MemberNodes } from './member-nodes.js';
import { MemberRecipes } from './member-recipes.js';
import { MemberRoutes } from './member-routes.js';
import { memberSearch } from './member-search.js';
import type { OthersFor } from './other-members.js';
import { SessionRoutes } from './session-routes.js';
import { sessionWatches } from './session-watch.js';
import { sessionWriters } from './session-writer.js';
import { treeRoutes } from './tree-routes.js';

export interface MemberApiParts {
  readonly member: ApiMember;
  readonly others: OthersFor;
  readonly servers: readonly ServerAddress[];
  /** As for `TreeSources`. */
  readonly defaultAcl: readonly Acl[] | null;
  readonly audit: AdminAudit;
  readonly logger: Logger;
}

export function memberRoutes(parts: MemberApiParts): ApiRoutes {
  const { member, others, servers, defaultAcl, audit, logger } = parts;
  const sessions = new SessionRoutes(member, others, { audit, logger });
  const hot = new HotRoutes(member, others);
  const members = new MemberRoutes(member, servers, others);
  const tree = treeRoutes({
    nodes: new MemberNodes(member),
    writers: sessionWriters(member),
    search: memberSearch(member),
    recipes: new MemberRecipes(member, others),
    watches: sessionWatches(member),
    defaultAcl,
    logger,
  });
  return {
    '/members': { GET: members.list },
    '/members/{id}': { GET: members.one },
    '/hot': { GET: hot.list },
    ...tree,
    '/sessions': { GET: sessions.list },
    '/sessions/{id}': { GET: sessions.one, DELETE: sessions.end },
    '/watches': { GET: sessions.watches },
  };
}
