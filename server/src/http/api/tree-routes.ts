/**
 * The routes of `/api/v1` that read the tree and change it, whatever the source of the tree is:
 * NodeReads, NodeWrites, and the table of all routes.
 */
import { type Acl, ErrorCode, Perms, parentOf, TTL_MAX_MS, validatePath } from '@rookery/protocol';
import type { Logger } from 'pino';
import { type HttpAnswer, HttpError } from '../http-port.js';
import { aclIn } from './acl-parameter.js';
import {
  type ApiCall,
  type ApiRoutes,
  flag,
  jsonAnswer,
  oneOf,
  pathOf,
  wholeNumber,
} from './api-call.js';
import type { Caller } from './caller.js';
import {
  NODE_MODES,
  type NodeSource,
  type NodeWriter,
  type OpenWriter,
  statFacts,
  type Versioned,
} from './node-source.js';
import { badRequest } from './problem.js';
import {
  type RecipeSource,
  recipeRoute,
  recipesRoute,
  Scans,
  type Search,
  searchRoute,
} from './search-route.js';
import { type OpenWatch, WatchStreams } from './watch-route.js';

interface TreeSources {
  readonly nodes: NodeSource;
  readonly writers: OpenWriter;
  readonly search: Search;
  readonly recipes: RecipeSource;
  readonly watches: OpenWatch;
  /** For new znodes whose creator gives none; null: everybody may do everything. */
  readonly defaultAcl?: readonly Acl[] | null;
  /** Gets a line for each write. */
  readonly logger: Logger;
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

const PAGE = { min: 1, max: 1000, otherwise: 200 };

/**
 * Reads of znodes: facts, data, and children in pages. What the caller may not read of a child is
 * null.
 */
class NodeReads {
  readonly #source: NodeSource;

  constructor(source: NodeSource) {
    this.#source = source;
  }

  readonly facts = async ({ query, caller }: ApiCall): Promise<HttpAnswer> => {
    const found = await this.#source.facts(pathOf(query), caller);
    return jsonAnswer(found.value, { headers: headersOf(found) });
  };

  readonly data = async ({ query, caller }: ApiCall): Promise<HttpAnswer> => {
    const found = await this.#source.data(pathOf(query), caller);
    // Whatever it is, no browser shall run it.
    const headers = {
      'content-security-policy': "default-src 'none'; sandbox",
      'content-disposition': 'attachment',
      ...headersOf(found),
    };
    return { status: 200, type: 'application/octet-stream', body: found.value, headers };
  };

  readonly acl = async ({ query, caller }: ApiCall): Promise<HttpAnswer> => {
    const path = pathOf(query);
    const found = await this.#source.acl(path, caller);
    const { acl, may } = found.value;
    return jsonAnswer({ path, acl, may }, { headers: headersOf(found) });
  };

  readonly children = async ({ query, caller }: ApiCall): Promise<HttpAnswer> => {
    const path = pathOf(query);
    const limit = wholeNumber(query, 'limit', PAGE);
    const asked = { after: query.get('after') ?? '', limit, withStat: flag(query, 'stat') };
    const found = await this.#source.children(path, asked, caller);
    const { names, children, hasMore, numChildren, cversion } = found.value;
    const next = hasMore ? (names.at(-1) ?? null) : null;
    return jsonAnswer(
      { path, numChildren, cversion, children: children ?? names, next },
      { headers: headersOf(found) },
    );
  };
}

function headersOf({ version, zxid }: Versioned<unknown>): Readonly<Record<string, string>> {
  return { etag: `"${version}"`, ...(zxid === null ? {} : { 'x-rookery-zxid': zxid }) };
}

/** The client port would refuse a request with more data. */
const DATA_BYTES_MAX = 1_000_000;
/** The writes that may be under way. */
const WRITES_MAX = 16;
const ANY_VERSION = -1;
const OPEN: readonly Acl[] = [{ perms: Perms.all, scheme: 'world', id: 'anyone' }];

/**
 * Writes of znodes, as the caller: create, set, set the ACL, delete.
 *
 * What replaces or removes something is told the version that the caller has seen, in `If-Match`;
 * `*` stands for any. If the znode has another one by then the answer is 412 with what it is now,
 * and nothing has changed. Each write is a line of the log.
 */
export class NodeWrites {
  readonly #open: OpenWriter;
  readonly #defaultAcl: readonly Acl[];
  readonly #logger: Logger;
  #underWay = 0;

  constructor(
    open: OpenWriter,
    { defaultAcl, logger }: { readonly defaultAcl: readonly Acl[] | null; readonly logger: Logger },
  ) {
    this.#open = open;
    this.#defaultAcl = defaultAcl ?? OPEN;
    this.#logger = logger;
  }

  readonly create = async ({ query, request, caller }: ApiCall): Promise<HttpAnswer> => {
    const mode = oneOf(query, 'mode', NODE_MODES, 'persistent');
    const path = query.get('path') ?? '';
    const wrong = validatePath(path, { sequential: mode.endsWith('sequential') });
    if (wrong !== null) throw badRequest(`path: ${wrong}.`);
    const ttlMs = wholeNumber(query, 'ttlMs', { min: 1, max: TTL_MAX_MS, otherwise: 0 });
    if (mode.startsWith('ttl') !== ttlMs > 0) {
      throw badRequest(`ttlMs: expected with mode ttl, and only there.`);
    }
    const acl = aclIn(query) ?? this.#defaultAcl;
    const data = await request.readBody(DATA_BYTES_MAX);
    return await this.#asCaller(caller, { operation: 'create', path }, async (writer) => {
      if (flag(query, 'parents')) await createParents(writer, path, acl);
      const { path: whole, stat } = await writer.create({ path, mode, ttlMs, data, acl });
      const location = `/api/v1/node?path=${encodeURIComponent(whole)}`;
      const headers = { etag: `"${stat.version}"`, location };
      return jsonAnswer({ path: whole, stat: statFacts(stat) }, { status: 201, headers });
    });
  };

  readonly setData = async ({ query, request, caller }: ApiCall): Promise<HttpAnswer> => {
    const path = pathOf(query);
    const version = versionIn(request.headers['if-match']);
    const data = await request.readBody(DATA_BYTES_MAX);
    return await this.#asCaller(caller, { operation: 'setData', path }, async (writer) => {
      const stat = await writer.setData(path, data, version);
      const headers = { etag: `"${stat.version}"` };
      return jsonAnswer({ path, stat: statFacts(stat) }, { headers });
    });
  };

  readonly setAcl = async ({ query, request, caller }: ApiCall): Promise<HttpAnswer> => {
    const path = pathOf(query);
    const version = versionIn(request.headers['if-match']);
    const acl = aclIn(query);
    if (acl === null) throw badRequest('acl: expected the new ACL.');
    return await this.#asCaller(caller, { operation: 'setAcl', path }, async (writer) => {
      const stat = await writer.setAcl(path, acl, version);
      const headers = { etag: `"${stat.aversion}"` };
      return jsonAnswer({ path, stat: statFacts(stat) }, { headers });
    });
  };

  readonly remove = async ({ query, request, caller }: ApiCall): Promise<HttpAnswer> => {
    const path = pathOf(query);
    const version = versionIn(request.headers['if-match']);
    return await this.#asCaller(caller, { operation: 'delete', path }, async (writer) => {
      await writer.remove(path, version);
      return { status: 204, type: 'application/json', body: '' };
    });
  };

  async #asCaller(
    caller: Caller,
    what: Write,
    act: (writer: NodeWriter) => Promise<HttpAnswer>,
  ): Promise<HttpAnswer> {
    if (this.#underWay >= WRITES_MAX) {
      throw new HttpError(503, 'Too many writes are under way.', { 'retry-after': '1' });
    }
    this.#underWay += 1;
    try {
      const writer = await this.#open(caller);
      try {
        const answer = await act(writer);
        const { user, remoteAddress: remote } = caller;
        this.#logger.info({ ...what, user, remote }, 'admin.write');
        return answer;
      } catch (error) {
        throw await withStat(error, what.path, writer);
      } finally {
        writer.end();
      }
    } finally {
      this.#underWay -= 1;
    }
  }
}

interface Write {
  readonly operation: 'create' | 'setData' | 'setAcl' | 'delete';
  readonly path: string;
}

/** Adds to a wrong version what the znode is by now, which the caller needs to try again. */
async function withStat(error: unknown, path: string, writer: NodeWriter): Promise<unknown> {
  if (!(error instanceof HttpError) || error.facts['code'] !== ErrorCode.badVersion) return error;
  const stat = await writer.now(path);
  if (stat === null) return error;
  const { status, message, headers, facts } = error;
  return new HttpError(status, message, headers, { ...facts, stat: statFacts(stat) });
}

async function createParents(writer: NodeWriter, path: string, acl: readonly Acl[]) {
  const missing: string[] = [];
  for (let at = parentOf(path); at !== '/'; at = parentOf(at)) missing.unshift(at);
  for (const parent of missing) {
    try {
      await writer.create({ path: parent, mode: 'persistent', ttlMs: 0, data: EMPTY, acl });
    } catch (error) {
      // A caller who may not create one that exists may still create below it.
      const code = error instanceof HttpError ? error.facts['code'] : null;
      if (code !== ErrorCode.nodeExists && code !== ErrorCode.noAuth) throw error;
    }
  }
}

const EMPTY = new Uint8Array(0);

/** Throws HttpError 428 without one, so that no change overwrites unseen data by accident. */
function versionIn(header: string | undefined): number {
  if (header === undefined) {
    throw new HttpError(428, 'If-Match is missing: "version", or * for whatever it is.');
  }
  if (header.trim() === '*') return ANY_VERSION;
  const [, digits = ''] = /^"(\d{1,10})"$/.exec(header.trim()) ?? [];
  const version = digits === '' ? Number.NaN : Number(digits);
  if (version <= 0x7fff_ffff) return version;
  throw badRequest('If-Match: expected a version in double quotes, or *.');
}
