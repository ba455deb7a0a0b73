/**
 * Writes of znodes, as the caller: create, set, set the ACL, delete.
 *
 * What replaces or removes something is told the version that the caller has seen, in `If-Match`;
 * `*` stands for any. If the znode has another one by then the answer is 412 with what it is now,
 * and nothing has changed. Each write is a line of the log.
 */
import { type Acl, ErrorCode, Perms, parentOf, TTL_MAX_MS, validatePath } from '@rookery/protocol';
import type { Logger } from 'pino';
import { HttpError } from '../http-error.js';
import type { HttpAnswer } from '../http-port.js';
import { aclIn } from './acl-parameter.js';
import { type ApiCall, jsonAnswer } from './api-call.js';
import { flag, oneOf, pathOf, wholeNumber } from './api-query.js';
import type { Caller } from './caller.js';
import { statFacts } from './node-facts.js';
import { NODE_MODES, type NodeWriter, type OpenWriter } from './node-source.js';
import { badRequest } from './problem.js';

/** The client port would refuse a request with more data. */
const DATA_BYTES_MAX = 1_000_000;
/** The writes that may be under way. */
const WRITES_MAX = 16;
const ANY_VERSION = -1;
const OPEN: readonly Acl[] = [{ perms: Perms.all, scheme: 'world', id: 'anyone' }];

export class NodeWrites {
  readonly #open: OpenWriter;
  readonly #defaultAcl: readonly Acl[];
  readonly #logger: Pick<Logger, 'info'>;
  #underWay = 0;

  constructor(
    open: OpenWriter,
    {
      defaultAcl,
      logger,
    }: { readonly defaultAcl: readonly Acl[] | null; readonly logger: Pick<Logger, 'info'> },
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
      // Whoever may not create one that exists may create below it all the same.
      const code = error instanceof HttpError ? error.facts['code'] : null;
      if (code !== ErrorCode.nodeExists && code !== ErrorCode.noAuth) throw error;
    }
  }
}

const EMPTY = new Uint8Array(0);

/** Throws HttpError 428 without one: nobody overwrites by accident what he has not seen. */
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
