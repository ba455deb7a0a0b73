/**
 * Sessions and watches: who they are, from where, what they own and what they watch.
 *
 * Sessions are those of the whole ensemble. To which member each is connected and from where is
 * asked of the others, and of one session also its traffic and its watches; in lists these are told
 * for clients that are connected here. Paths are shown whatever their ACLs say, as `dump` and
 * `wchp` do: this is for those who may use the port. Every list has a bound.
 */

import type { Logger } from 'pino';
import { shownIdentities, watchedBy } from '../../driver/session-answer.js';
import { prefixedHex } from '../../net/four-letter/format.js';
import { atMost } from '../../state/at-most.js';
import { listedEphemerals } from '../../state/ephemeral-listing.js';
import type { SessionId } from '../../state/txn.js';
import type { WatchMode } from '../../state/watches.js';
import { HttpError } from '../http-error.js';
import type { HttpAnswer } from '../http-port.js';
import { type ApiCall, jsonAnswer } from './api-call.js';
import type { ApiMember } from './api-member.js';
import { pathOf, sessionNumberIn, wholeNumber } from './api-query.js';
import {
  addressOf,
  type ClientsHere,
  clientsHere,
  connectionFacts,
  WATCH_MODES,
} from './clients-here.js';
import { requireServing } from './member-nodes.js';
import type { OtherMembers } from './other-members.js';

const LIST = { min: 1, max: 1000, otherwise: 100 };
/** The paths of ephemerals that are listed of one session. */
const OWNED_MAX = 1000;

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
  readonly #others: OtherMembers;
  readonly #logger: Logger;

  constructor(member: ApiMember, others: OtherMembers, logger: Logger) {
    this.#member = member;
    this.#others = others;
    this.#logger = logger;
  }

  readonly list = async ({ query }: ApiCall): Promise<HttpAnswer> => {
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
    const facts = await this.#factsOf(page);
    const next = hasMore ? prefixedHex(page.at(-1) ?? 0) : null;
    return jsonAnswer({ count, sessions: facts, next });
  };

  readonly one = async ({ names }: ApiCall): Promise<HttpAnswer> => {
    requireServing(this.#member);
    const id = this.#known(names[0] ?? '');
    const { tree } = this.#member.state;
    const ephemerals = [...atMost(OWNED_MAX, listedEphemerals(tree, id))];
    const [facts] = await this.#factsOf([id]);
    const more = facts === undefined ? null : await this.#moreOf(id, facts);
    return jsonAnswer({ ...facts, ...more, ephemeralPaths: ephemerals });
  };

  readonly end = async ({ names, caller }: ApiCall): Promise<HttpAnswer> => {
    const { user, remoteAddress: remote } = caller;
    requireServing(this.#member);
    const id = this.#known(names[0] ?? '');
    if (!this.#member.expireSession(id)) {
      const { leaderId } = this.#member.context().view.details;
      const isEnded = leaderId !== 0 && (await this.#others.endSession(leaderId, id));
      if (!isEnded) {
        const sentence = `The leader did not answer: ask member ${leaderId}.`;
        throw new HttpError(409, sentence, {}, { leader: leaderId });
      }
    }
    this.#logger.info({ session: prefixedHex(id), user, remote }, 'admin.session_ended');
    return { status: 202, type: 'application/json', body: '{}\n' };
  };

  readonly watches = ({ query }: ApiCall): HttpAnswer => {
    requireServing(this.#member);
    const limit = wholeNumber(query, 'limit', LIST);
    const all = this.#watches(query, clientsHere(this.#member));
    const listed = [...atMost(limit + 1, all)];
    const isTruncated = listed.length > limit;
    return jsonAnswer({ watches: listed.slice(0, limit), truncated: isTruncated });
  };

  #known(text: string): SessionId {
    const id = sessionNumberIn(text, 'session');
    if (this.#member.state.sessions.has(id)) return id;
    throw new HttpError(404, 'There is no such session.', {}, { session: text.slice(0, 20) });
  }

  async #factsOf(ids: readonly SessionId[]) {
    const clients = clientsHere(this.#member);
    const elsewhere = await this.#others.clients(ids.filter((id) => !clients.has(id)));
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
  async #moreOf(id: SessionId, { member, address, connection }: SessionFacts) {
    if (connection !== null) {
      const identities = shownIdentities(this.#member.identitiesOf(id) ?? []);
      return { identities, watched: watchedBy(this.#member, id) };
    }
    // No member has watches of a session without a connection: its client sets them again.
    if (member === null) return { identities: null, watched: [] };
    const told = await this.#others.session(member, id);
    if (told === null) return { identities: null, watched: null };
    const { traffic, watched, identities = null } = told;
    return { identities, connection: { address, ...traffic }, watched };
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
