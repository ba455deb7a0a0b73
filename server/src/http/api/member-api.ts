/**
 * The routes of `/api/v1` that a member answers, from the state that it has applied: members of the
 * ensemble, the hottest paths and sessions, and the table of all routes.
 */
import { type Acl, addressText } from '@rookery/protocol';
import type { Logger } from 'pino';
import type { Config, ServerAddress } from '../../config/config.js';
import {
  HOT_MAX,
  type HotAnswer,
  type HotPath,
  hotAnswer,
  statusOf,
} from '../../driver/member-answers.js';
import type { AdminAudit } from '../admin-audit.js';
import { type HttpAnswer, HttpError } from '../http-port.js';
import { type ApiCall, type ApiRoutes, jsonAnswer, wholeNumber } from './api-call.js';
import type { ApiMember } from './api-member.js';
import { sessionWatches, sessionWriters } from './data-session.js';
import { MemberNodes } from './member-nodes.js';
import { MemberRecipes } from './member-recipes.js';
import { memberSearch } from './member-search.js';
import type { OtherMembers, OthersFor } from './other-members.js';
import { SessionRoutes } from './session-routes.js';
import { treeRoutes } from './tree-routes.js';

/** `defaultAcl` is that of `TreeSources`. */
export function memberRoutes(
  member: ApiMember,
  others: OthersFor,
  audit: AdminAudit,
  at: {
    readonly config: Config;
    readonly defaultAcl: readonly Acl[] | null;
    readonly logger: Logger;
  },
): ApiRoutes {
  const { defaultAcl, logger } = at;
  const sessions = new SessionRoutes(member, others, { audit, logger });
  const hot = new HotRoutes(member, others);
  const members = new MemberRoutes(member, at.config.servers, others);
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

/**
 * The members of the ensemble: role, zxids, release, disk, clients, of each that answers.
 */
class MemberRoutes {
  readonly #member: ApiMember;
  readonly #servers: readonly ServerAddress[];
  readonly #others: OthersFor;

  constructor(member: ApiMember, servers: readonly ServerAddress[], others: OthersFor) {
    this.#member = member;
    this.#servers = servers;
    this.#others = others;
  }

  readonly list = async ({ caller }: ApiCall): Promise<HttpAnswer> => {
    const others = this.#others(caller);
    const facts = this.#servers.map((server) => this.#factsOf(server, others));
    const members = await Promise.all(facts);
    const { memberId } = this.#member.context().view.details;
    return jsonAnswer({ self: memberId, members });
  };

  readonly one = async ({ names, caller }: ApiCall): Promise<HttpAnswer> => {
    const server = this.#servers.find(({ id }) => String(id) === names[0]);
    if (server === undefined) throw new HttpError(404, 'There is no such member.');
    return jsonAnswer(await this.#factsOf(server, this.#others(caller)));
  };

  async #factsOf(server: ServerAddress, others: OtherMembers) {
    const { id, host, clientHost = host, clientPort } = server;
    const context = this.#member.context();
    const isSelf = context.view.details.memberId === id;
    const status = isSelf ? statusOf(context) : await others.status(id);
    return {
      ...status,
      id,
      host,
      client: { host: clientHost, port: clientPort },
      answers: status !== null,
    };
  }
}

const LIST = { min: 1, max: HOT_MAX, otherwise: 20 };

interface PathFacts {
  readonly path: string;
  /** Null, like `writesPerSecond`, for a path that is not among the most read at any member. */
  readonly readsPerSecond: number | null;
  readonly writesPerSecond: number | null;
}

interface Told {
  readonly id: number;
  /** Null for a member that did not answer. */
  readonly answer: HotAnswer | null;
}

/**
 * Which paths are read and written most, and which clients ask most, at all members together.
 *
 * Every member watches its requests from the first question on, and for half a minute after the
 * last one, so the first answer is empty. Paths are shown whatever their ACLs say, as `/watches`
 * shows them: this is for those who may use the port.
 */
class HotRoutes {
  readonly #member: ApiMember;
  readonly #others: OthersFor;

  constructor(member: ApiMember, others: OthersFor) {
    this.#member = member;
    this.#others = others;
  }

  readonly list = async ({ query, caller }: ApiCall): Promise<HttpAnswer> => {
    const limit = wholeNumber(query, 'limit', LIST);
    const self = this.#member.context().view.details.memberId;
    const others = this.#others(caller);
    const asked = others.ids.map(async (id) => {
      return { id, answer: await others.hot(id) };
    });
    const own = { id: self, answer: hotAnswer(this.#member) };
    const told = [own, ...(await Promise.all(asked))].sort((a, b) => a.id - b.id);
    return jsonAnswer({
      members: told.map(memberFacts),
      paths: pathsOf(told, limit),
      clients: clientsOf(told, limit),
    });
  };
}

function memberFacts({ id, answer }: Told) {
  if (answer === null) return { id, answers: false };
  const { reads: _, writes: _1, clients: _2, ...figures } = answer;
  return { id, answers: true, ...figures };
}

/** The most read ones and the most written ones, at most `limit` of each; the busiest first. */
function pathsOf(told: readonly Told[], limit: number): readonly PathFacts[] {
  const answers = told.flatMap(({ answer }) => (answer === null ? [] : [answer]));
  const reads = summed(answers.map((answer) => answer.reads));
  const writes = summed(answers.map((answer) => answer.writes));
  const paths = new Set([...busiest(reads, limit), ...busiest(writes, limit)]);
  return [...paths]
    .map((path) => ({
      path,
      readsPerSecond: reads.get(path) ?? null,
      writesPerSecond: writes.get(path) ?? null,
    }))
    .sort((a, b) => allOf(b) - allOf(a));
}

function summed(lists: readonly (readonly HotPath[])[]): ReadonlyMap<string, number> {
  const rates = new Map<string, number>();
  for (const { path, perSecond } of lists.flat()) {
    rates.set(path, tenths((rates.get(path) ?? 0) + perSecond));
  }
  return rates;
}

function busiest(rates: ReadonlyMap<string, number>, limit: number): readonly string[] {
  const sorted = [...rates].sort(([, a], [, b]) => b - a);
  return sorted.slice(0, limit).map(([path]) => path);
}

function allOf({ readsPerSecond, writesPerSecond }: PathFacts): number {
  return (readsPerSecond ?? 0) + (writesPerSecond ?? 0);
}

function clientsOf(told: readonly Told[], limit: number) {
  const clients = told.flatMap(({ id, answer }) =>
    (answer?.clients ?? []).map(({ session, host, port, perSecond }) => ({
      session,
      member: id,
      address: host === null || host === '' ? host : addressText(host, port),
      requestsPerSecond: perSecond,
    })),
  );
  return clients.sort((a, b) => b.requestsPerSecond - a.requestsPerSecond).slice(0, limit);
}

function tenths(value: number): number {
  return Math.round(10 * value) / 10;
}
