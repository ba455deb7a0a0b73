/**
 * Writes of znodes, as the caller: create, set, set the ACL, delete.
 *
 * What replaces or removes something is told the version that the caller has seen, in `If-Match`;
 * `*` stands for any. If the znode has another one by then the answer is 412 with what it is now,
 * and nothing has changed. Ephemerals are not made here: they would end with the request. Each
 * write is a line of the log.
 */
import {
  type Acl,
  Create2Response,
  CreateFlag,
  CreateRequest,
  CreateTtlRequest,
  ErrorCode,
  encode,
  OpCode,
  PathVersionRequest,
  Perms,
  parentOf,
  SetAclRequest,
  SetDataRequest,
  Stat,
  TTL_MAX_MS,
  validatePath,
} from '@rookery/protocol';
import type { Logger } from 'pino';
import { NO_NODE } from '../../state/tree.js';
import { HttpError } from '../http-error.js';
import type { HttpAnswer } from '../http-port.js';
import { type ApiCall, jsonAnswer } from './api-call.js';
import type { ApiMember } from './api-member.js';
import { flag, oneOf, pathOf, wholeNumber } from './api-query.js';
import type { Caller } from './caller.js';
import { DataSession } from './data-session.js';
import { aclOf, mayReadNode, statFacts } from './node-facts.js';
import { badRequest, keeperProblem } from './problem.js';

/** The client port would refuse a request with more data. */
const DATA_BYTES_MAX = 1_000_000;
/** The writes that may be under way; each opens a session of its own. */
const WRITES_MAX = 16;
const ANY_VERSION = -1;
const OPEN: readonly Acl[] = [{ perms: Perms.all, scheme: 'world', id: 'anyone' }];
const MODES = ['persistent', 'sequential', 'container', 'ttl', 'ttl-sequential'] as const;
type Mode = (typeof MODES)[number];
const FLAGS: Readonly<Record<Mode, number>> = {
  persistent: CreateFlag.persistent,
  sequential: CreateFlag.persistentSequential,
  container: CreateFlag.container,
  ttl: CreateFlag.persistentWithTtl,
  'ttl-sequential': CreateFlag.persistentSequentialWithTtl,
};

export class NodeWrites {
  readonly #member: ApiMember;
  readonly #logger: Logger;
  #underWay = 0;

  constructor(member: ApiMember, logger: Logger) {
    this.#member = member;
    this.#logger = logger;
  }

  readonly create = async ({ query, request, caller }: ApiCall): Promise<HttpAnswer> => {
    const mode = oneOf(query, 'mode', MODES, 'persistent');
    const isSequential = mode.endsWith('sequential');
    const path = query.get('path') ?? '';
    const wrong = validatePath(path, { sequential: isSequential });
    if (wrong !== null) throw badRequest(`path: ${wrong}.`);
    const isTtl = mode.startsWith('ttl');
    const ttlMs = wholeNumber(query, 'ttlMs', { min: 1, max: TTL_MAX_MS, otherwise: 0 });
    if (isTtl !== ttlMs > 0) throw badRequest(`ttlMs: expected with mode ttl, and only there.`);
    const acl = aclIn(query) ?? OPEN;
    const data = await request.readBody(DATA_BYTES_MAX);
    const flags = FLAGS[mode];
    const body = isTtl
      ? encode(CreateTtlRequest, { path, data, acl, flags, ttlMs })
      : encode(CreateRequest, { path, data, acl, flags });
    const opcode = isTtl ? OpCode.createTtl : mode === 'container' ? CONTAINER : OpCode.create2;
    return await this.#asCaller(caller, { operation: 'create', path }, async (session) => {
      if (flag(query, 'parents')) await createParents(session, path, acl);
      const made = await this.#ask(session, { opcode, body, path, caller });
      const { path: whole, stat } = Create2Response.read(made);
      const location = `/api/v1/node?path=${encodeURIComponent(whole)}`;
      const headers = { etag: `"${stat.version}"`, location };
      return jsonAnswer({ path: whole, stat: statFacts(stat) }, { status: 201, headers });
    });
  };

  readonly setData = async ({ query, request, caller }: ApiCall): Promise<HttpAnswer> => {
    const path = pathOf(query);
    const version = versionIn(request.headers['if-match']);
    const data = await request.readBody(DATA_BYTES_MAX);
    const body = encode(SetDataRequest, { path, data, version });
    return await this.#change(caller, { operation: 'setData', path }, OpCode.setData, body);
  };

  readonly setAcl = async ({ query, request, caller }: ApiCall): Promise<HttpAnswer> => {
    const path = pathOf(query);
    const version = versionIn(request.headers['if-match']);
    const acl = aclIn(query);
    if (acl === null) throw badRequest('acl: expected scheme:id:perms, separated by commas.');
    const body = encode(SetAclRequest, { path, acl, version });
    return await this.#change(caller, { operation: 'setAcl', path }, OpCode.setAcl, body);
  };

  readonly remove = async ({ query, request, caller }: ApiCall): Promise<HttpAnswer> => {
    const path = pathOf(query);
    const version = versionIn(request.headers['if-match']);
    const body = encode(PathVersionRequest, { path, version });
    return await this.#asCaller(caller, { operation: 'delete', path }, async (session) => {
      await this.#ask(session, { opcode: OpCode.delete, body, path, caller });
      return { status: 204, type: 'application/json', body: '' };
    });
  };

  #change(caller: Caller, what: Write, opcode: number, body: Uint8Array): Promise<HttpAnswer> {
    const { path, operation } = what;
    return this.#asCaller(caller, what, async (session) => {
      const stat = Stat.read(await this.#ask(session, { opcode, body, path, caller }));
      const etag = operation === 'setAcl' ? stat.aversion : stat.version;
      return jsonAnswer({ path, stat: statFacts(stat) }, { headers: { etag: `"${etag}"` } });
    });
  }

  async #asCaller(
    caller: Caller,
    what: Write,
    act: (session: DataSession) => Promise<HttpAnswer>,
  ): Promise<HttpAnswer> {
    if (this.#underWay >= WRITES_MAX) {
      throw new HttpError(503, 'Too many writes are under way.', { 'retry-after': '1' });
    }
    this.#underWay += 1;
    try {
      const open = this.#member.openStream.bind(this.#member);
      const session = await DataSession.open(open, caller.auths);
      try {
        const answer = await act(session);
        const { user, remoteAddress: remote } = caller;
        this.#logger.info({ ...what, user, remote }, 'admin.write');
        return answer;
      } finally {
        session.end();
      }
    } finally {
      this.#underWay -= 1;
    }
  }

  /** The body of the answer; throws what went wrong as HttpError. */
  async #ask(session: DataSession, { opcode, body, path, caller }: Asked) {
    const { error, body: reply } = await session.request(opcode, body);
    if (error === 0) return reply;
    const facts = error === ErrorCode.badVersion ? this.#now(path, caller) : {};
    throw keeperProblem(error, { path, ...facts });
  }

  /** What a caller whose version was wrong needs in order to try again. */
  #now(path: string, { requester }: Caller): Readonly<Record<string, unknown>> {
    const { tree } = this.#member.state;
    const node = tree.find(path);
    if (node === NO_NODE || !mayReadNode(tree, node, requester)) return {};
    return { stat: statFacts(tree.stat(node)) };
  }
}

const CONTAINER = OpCode.createContainer;

interface Write {
  readonly operation: 'create' | 'setData' | 'setAcl' | 'delete';
  readonly path: string;
}

interface Asked {
  readonly opcode: number;
  readonly body: Uint8Array;
  readonly path: string;
  readonly caller: Caller;
}

async function createParents(session: DataSession, path: string, acl: readonly Acl[]) {
  const missing: string[] = [];
  for (let at = parentOf(path); at !== '/'; at = parentOf(at)) missing.unshift(at);
  for (const parent of missing) {
    const request = { path: parent, data: EMPTY, acl, flags: CreateFlag.persistent };
    const body = encode(CreateRequest, request);
    const { error } = await session.request(OpCode.create2, body);
    // Whoever may not create one that exists may create below it all the same.
    const isThere = error === ErrorCode.nodeExists || error === ErrorCode.noAuth;
    if (error !== 0 && !isThere) throw keeperProblem(error, { path: parent });
  }
}

const EMPTY = new Uint8Array(0);

function aclIn(query: URLSearchParams): readonly Acl[] | null {
  const text = query.get('acl');
  if (text === null) return null;
  const acl = aclOf(text);
  if (acl === null) throw badRequest('acl: expected scheme:id:perms, separated by commas.');
  return acl;
}

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
