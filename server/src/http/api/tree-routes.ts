/**
 * The routes of `/api/v1` that tell of the tree and change it, from wherever the tree comes.
 */
import type { Acl } from '@rookery/protocol';
import type { Logger } from 'pino';
import type { ApiRoutes } from './api-call.js';
import { NodeReads } from './node-routes.js';
import type { NodeSource, OpenWriter } from './node-source.js';
import { type RecipeSource, recipeRoute, recipesRoute } from './recipe-routes.js';
import { Scans, type Search, searchRoute } from './search-route.js';
import { type OpenWatch, WatchStreams } from './watch-route.js';
import { NodeWrites } from './write-routes.js';

export interface TreeSources {
  readonly nodes: NodeSource;
  readonly writers: OpenWriter;
  readonly search: Search;
  readonly recipes: RecipeSource;
  readonly watches: OpenWatch;
  /** For new znodes whose creator gives none; null: everybody may do everything. */
  readonly defaultAcl?: readonly Acl[] | null;
  /** Gets a line for each write. */
  readonly logger: Pick<Logger, 'info'>;
}

export function treeRoutes(sources: TreeSources): ApiRoutes {
  const { nodes, writers, search, recipes, watches, defaultAcl = null, logger } = sources;
  const reads = new NodeReads(nodes);
  const writes = new NodeWrites(writers, { defaultAcl, logger });
  const scans = new Scans();
  return {
    '/node': { GET: reads.facts, POST: writes.create, DELETE: writes.remove },
    '/node/data': { GET: reads.data, PUT: writes.setData },
    '/node/acl': { GET: reads.acl, PUT: writes.setAcl },
    '/children': { GET: reads.children },
    '/search': { GET: searchRoute(search, scans) },
    '/recipe': { GET: recipeRoute(recipes) },
    '/recipes': { GET: recipesRoute(recipes, scans) },
    '/watch': { GET: new WatchStreams(watches).answer },
  };
}
