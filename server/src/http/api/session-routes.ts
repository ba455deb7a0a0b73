/**
 * Sessions and watches: who they are, from where, what they own and what they watch.
 *
 * Sessions are those of the whole ensemble. To which member each is connected and from where is
 * asked of the others, and of one session also its traffic and its watches; in lists these are told
 * for clients that are connected here. Paths are shown whatever their ACLs say, as `dump` and
 * `wchp` do: this is for those who may use the port. Every list has a bound.
 */

import type { Logger } from 'pino';
import type { EndOutcome } from '../../driver/member-answers.js';
import { shownIdentities, watchedBy } from '../../driver/member-answers.js';
import { prefixedHex } from '../../net/four-letter/format.js';
import type { Tree } from '../../state/tree.js';
import type { SessionId } from '../../state/txn.js';
import type { WatchMode } from '../../state/watches.js';
import type { AdminAudit } from '../admin-audit.js';
import type { HttpAnswer } from '../http-port.js';
import { HttpError } from '../http-port.js';
import { type ApiCall, jsonAnswer, pathOf, sessionNumberIn, wholeNumber } from './api-call.js';
import type { ApiMember } from './api-member.js';
import {
  addressOf,
  type ClientsHere,
  clientsHere,
  connectionFacts,
  WATCH_MODES,
} from './api-member.js';
import type { Caller } from './caller.js';
import { requireServing } from './member-nodes.js';
import type { OtherMembers, OthersFor } from './other-members.js';

const LIST = { min: 1, max: 1000, otherwise: 100 };
/** The paths of ephemerals that are listed of one session. */
const OWNED_MAX = 1000;
/** The characters of all paths in one list, because a path may be as long as a request. */
const PATH_CHARACTERS_MAX = 1_000_000;
/** Such as in read-only mode. */
const NO_LEADER =
  'This member has no leader, and only a leader ends sessions: ask a member that has one, ' +
  'or ask again when this one has.';

interface SessionFacts {
  readonly member: number | null;
  readonly address: string | null;
  readonly connection: object | null;
}

interface WatchFacts {
  readonly path: string;
  readonly mode: WatchMode;
  readonly session: string;
  readonly address: string | null;
}

export class SessionRoutes {
  readonly #member: ApiMember;
  readonly #others: OthersFor;
  readonly #audit: AdminAudit;
  readonly #logger: Logger;

  constructor(
    member: ApiMember,
    others: OthersFor,
    { audit, logger }: { readonly audit: AdminAudit; readonly logger: Logger },
  ) {
    this.#audit = audit;
    this.#member = member;
    this.#others = others;
    this.#logger = logger;
  }

  readonly list = async ({ query, caller }: ApiCall): Promise<HttpAnswer> => {
    requireServing(this.#member);
    const limit = wholeNumber(query, 'limit', LIST);
    const after = sessionNumberIn(query.get('after'), 'after');
    const { sessions } = this.#member.state;
    const page: SessionId[] = [];
    let hasMore = false;
    // Sessions come in the order of their ids, in which they were opened.
    for (const [id] of sessions.all()) {
      if (id <= after) continue;
      hasMore = page.length === limit;
      if (hasMore) break;
      page.push(id);
    }
    const { count } = sessions;
    const facts = await this.#factsOf(page, this.#others(caller));
    const next = hasMore ? prefixedHex(page.at(-1) ?? 0) : null;
    return jsonAnswer({ count, sessions: facts, next });
  };

  readonly one = async ({ names, caller }: ApiCall): Promise<HttpAnswer> => {
    requireServing(this.#member);
    const id = this.#known(names[0] ?? '');
    const { tree } = this.#member.state;
    const { listed: ephemeralPaths, isTruncated: ephemeralPathsTruncated } = listedOf(
      ephemeralsOf(tree, id, OWNED_MAX + 1),
      { limit: OWNED_MAX, textOf: (path) => path },
    );
    const others = this.#others(caller);
    const [facts] = await this.#factsOf([id], others);
    const more = facts === undefined ? null : await this.#moreOf(id, facts, others);
    return jsonAnswer({ ...facts, ...more, ephemeralPaths, ephemeralPathsTruncated });
  };

  readonly end = async ({ names, caller }: ApiCall): Promise<HttpAnswer> => {
    const { user, remoteAddress: remote } = caller;
    requireServing(this.#member);
    const id = this.#known(names[0] ?? '');
    const here = this.#member.expireSession(id);
    const outcome = here === 'notLeading' ? await this.#endElsewhere(id, caller) : here;
    // A request for what is happening anyway has not ended the session.
    if (outcome === 'ended') {
      this.#logger.info({ session: prefixedHex(id), user, remote }, 'admin.session_ended');
      this.#audit.done(caller, { operation: 'expireSession', session: id });
    }
    return { status: 202, type: 'application/json', body: '{}\n' };
  };

  readonly watches = ({ query }: ApiCall): HttpAnswer => {
    requireServing(this.#member);
    const limit = wholeNumber(query, 'limit', LIST);
    const all = this.#watches(query, clientsHere(this.#member));
    const { listed, isTruncated } = listedOf(all, { limit, textOf: ({ path }) => path });
    return jsonAnswer({ watches: listed, truncated: isTruncated });
  };

  async #endElsewhere(id: SessionId, caller: Caller): Promise<EndOutcome> {
    const { leaderId } = this.#member.context().view.details;
    if (leaderId === 0) throw new HttpError(503, NO_LEADER, { 'retry-after': '5' });
    const outcome = await this.#others(caller).endSession(leaderId, id);
    if (outcome !== 'notLeading') return outcome;
    const sentence = `Member ${leaderId} leads and did not answer: ask again, or ask that member.`;
    throw new HttpError(409, sentence, {}, { leader: leaderId });
  }

  #known(text: string): SessionId {
    const id = sessionNumberIn(text, 'session');
    if (this.#member.state.sessions.has(id)) return id;
    throw new HttpError(404, 'There is no such session.', {}, { session: text.slice(0, 20) });
  }

  async #factsOf(ids: readonly SessionId[], others: OtherMembers) {
    const clients = clientsHere(this.#member);
    const elsewhere = await others.clients(ids.filter((id) => !clients.has(id)));
    const { sessions, tree } = this.#member.state;
    const { view } = this.#member.context();
    const wanted = new Set<unknown>(ids);
    const left = new Map<unknown, number>();
    for (const { id, inMs } of view.sessions.expiries ?? []) if (wanted.has(id)) left.set(id, inMs);
    return ids.map((id) => {
      const known = sessions.get(id);
      const inMs = left.get(id);
      return {
        session: prefixedHex(id),
        timeoutMs: known?.timeoutMs ?? 0,
        closing: known?.isClosing ?? true,
        expiresInMs: inMs === undefined ? null : Math.round(inMs),
        ephemerals: tree.ephemeralsOwned(id),
        member: clients.has(id) ? view.details.memberId : (elsewhere.get(id)?.member ?? null),
        address: addressOf(clients, id) ?? elsewhere.get(id)?.address ?? null,
        connection: connectionFacts(clients, id),
      };
    });
  }

  /** Null stands for what the member does not answer to which the session is connected. */
  async #moreOf(id: SessionId, facts: SessionFacts, others: OtherMembers) {
    const { member, address, connection } = facts;
    if (connection !== null) {
      const identities = shownIdentities(this.#member.identitiesOf(id) ?? []);
      return { identities, ...watchedBy(this.#member, id) };
    }
    // No member has watches of a session without a connection: its client sets them again.
    if (member === null) return { identities: null, watched: [], watchedTruncated: false };
    const answer = await others.session(member, id);
    if (answer === null) return { identities: null, watched: null, watchedTruncated: null };
    const { traffic, watched, watchedTruncated, identities } = answer;
    return { identities, connection: { address, ...traffic }, watched, watchedTruncated };
  }

  *#watches(query: URLSearchParams, clients: ClientsHere): Generator<WatchFacts> {
    const { watches } = this.#member;
    const session = query.get('session');
    const path = query.has('path') ? pathOf(query) : null;
    const watcher =
      session === null ? null : this.#member.watcherOf(sessionNumberIn(session, 'session'));
    if (watcher === undefined) return;
    for (const mode of WATCH_MODES) {
      for (const watched of path === null ? watches.paths(mode) : [path]) {
        const watchers = watcher === null ? watches.watchersOf(mode, watched) : [watcher];
        for (const one of watchers) {
          if (!watches.has(mode, watched, one)) continue;
          const owner = this.#member.sessionOf(one);
          const address = addressOf(clients, owner);
          yield { path: watched, mode, session: prefixedHex(owner), address };
        }
      }
    }
  }
}

/** The paths of some ephemerals, at most so many; each is made when it is asked for. */
function* ephemeralsOf(tree: Tree, session: SessionId, most: number): Generator<string> {
  const nodes: number[] = [];
  tree.visitEphemerals(session, (node) => nodes.push(node) < most);
  for (const node of nodes) yield tree.path(node);
}

/**
 * The first ones of `all`, as many as an answer may have: at most `limit`, with at most
 * PATH_CHARACTERS_MAX characters of text in all. The first one is listed in any case.
 */
function listedOf<T>(
  all: Iterable<T>,
  { limit, textOf }: { readonly limit: number; readonly textOf: (one: T) => string },
): { readonly listed: readonly T[]; readonly isTruncated: boolean } {
  const listed: T[] = [];
  let characters = 0;
  for (const one of all) {
    characters += textOf(one).length;
    const isFull = listed.length === limit || characters > PATH_CHARACTERS_MAX;
    if (isFull && listed.length > 0) return { listed, isTruncated: true };
    listed.push(one);
  }
  return { listed, isTruncated: false };
}
