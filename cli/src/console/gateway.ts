/**
 * Answers for `rookery console`: the console's files, and `/api/v1` by means of clients and
 * four-letter words. Everything is below a path with a key; without the key, every answer is 404.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { DIGEST_ALGS } from '@rookery/protocol';
import {
  type AdminAccess,
  API,
  Api,
  type ApiRoutes,
  Callers,
  ConsoleFiles,
  type HttpAnswer,
  HttpError,
  type HttpRequest,
  problemAnswer,
  type Router,
  treeRoutes,
} from '@rookery/server/http';
import type { Logger } from 'pino';
import { ClientNodes, clientWriters } from './client-nodes.js';
import type { ClientPool } from './client-pool.js';
import { ClientRecipes } from './client-recipes.js';
import { clientSearch } from './client-scan.js';
import { clientWatches } from './client-watch.js';
import { ServerRoutes } from './server-routes.js';
import type { ServerWords } from './server-words.js';

const READ_ONLY = 'This console is for reading only (--no-write).';

/** A console's servers, and how it is reached. */
interface Gateway {
  readonly pool: ClientPool;
  readonly words: ServerWords;
  readonly files: ConsoleFiles;
  readonly access: AdminAccess;
  readonly key: string;
  readonly mayWrite: boolean;
  readonly logger: Logger;
}

export function gatewayRouter(gateway: Gateway): Router {
  const { files, access, key } = gateway;
  const api = newApi(gateway);
  return (request) => {
    const path = pathBelow(key, request.path);
    if (path === null) {
      throw new HttpError(404, 'There is nothing here: open the address that was printed.');
    }
    const inner = { ...request, path };
    if (path === '/' || path === '') return toConsole(request);
    if (ConsoleFiles.has(path)) return files.answer(inner);
    if (path !== API && !path.startsWith(`${API}/`)) {
      throw new HttpError(404, `There is no ${path}.`);
    }
    try {
      return api.answer(inner, access.require(request));
    } catch (error) {
      if (error instanceof HttpError) return problemAnswer(error);
      throw error;
    }
  };
}

function newApi({ pool, words, mayWrite, logger }: Gateway): Api {
  const tree = treeRoutes({
    nodes: new ClientNodes(pool),
    writers: clientWriters(pool),
    search: clientSearch(pool),
    recipes: new ClientRecipes(pool, words),
    watches: clientWatches(pool),
    logger,
  });
  const servers = new ServerRoutes(words);
  const told: ApiRoutes = {
    ...tree,
    '/members': { GET: servers.members },
    '/members/{id}': { GET: servers.member },
  };
  const withSessions: ApiRoutes = {
    ...told,
    '/sessions': { GET: servers.sessions },
    '/sessions/{id}': { GET: servers.session },
  };
  const callers = new Callers({
    digestAlgs: DIGEST_ALGS,
    superDigest: null,
    superIdentities: new Set(),
    skipAcl: false,
  });
  // No server says by which hash a client proves digests.
  const rules = { readOnly: mayWrite ? null : READ_ONLY, digestAlgs: null };
  return new Api(() => (words.tellsSessions ? withSessions : told), callers, rules);
}

/** The path below that of the key; null for any other. */
function pathBelow(key: string, path: string): string | null {
  const [, given = ''] = path.split('/', 2);
  const [one, other] = [key, given].map((text) => createHash('sha256').update(text).digest());
  if (one === undefined || other === undefined || !timingSafeEqual(one, other)) return null;
  return path.slice(1 + given.length);
}

function toConsole({ path }: HttpRequest): HttpAnswer {
  const location = `${path.replace(/\/$/, '')}/console/`;
  return { status: 308, type: 'text/plain', body: '', headers: { location } };
}
