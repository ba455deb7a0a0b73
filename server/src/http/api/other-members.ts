/**
 * Asks the other members of the ensemble, over the links that members already have.
 *
 * An answer comes from a wire: one without the expected form counts as none. A member that does not
 * answer within two seconds is shown as silent, and holds up no other answer.
 */

import { addressText } from '@rookery/protocol';
import { z } from 'zod';
import {
  type EndOutcome,
  EVENTS_PER_ANSWER,
  HOT_MAX,
  type HotAnswer,
  SESSIONS_PER_QUESTION,
  WATCH_MODES,
  WATCHED_MAX,
} from '../../driver/member-answers.js';
import type { Asked } from '../../driver/peer-questions.js';
import { prefixedHex } from '../../net/four-letter/format.js';
import type { SessionId } from '../../state/txn.js';
import type { Asker } from '../admin-audit.js';
import { askerOf } from './caller.js';

/** Asks the member with that id for a caller. Resolves with null if no answer comes. */
type AskMember = (id: number, asked: Asked) => Promise<string | null>;

/** Returns the other members, to be asked for this caller. */
export type OthersFor = (asker: Asker) => OtherMembers;

export function othersFor(ids: readonly number[], ask: AskMember): OthersFor {
  return (asker) =>
    new OtherMembers(ids, (id, question) => ask(id, { question, asker: askerOf(asker) }));
}

const statusSchema = z.looseObject({
  role: z.string(),
  mode: z.string(),
  release: z.string(),
  serving: z.boolean(),
});
const eventSchema = z.object({
  number: z.int(),
  time: z.string(),
  event: z.string(),
  level: z.enum(['info', 'warn', 'error', 'fatal']),
  facts: z.record(z.string(), z.unknown()),
});
const eventsSchema = z.object({
  start: z.string().max(20),
  newest: z.int(),
  lost: z.int(),
  restarted: z.boolean(),
  events: z.array(eventSchema).max(EVENTS_PER_ANSWER),
});
const clientsSchema = z.object({
  clients: z.array(
    z.object({
      session: z.string(),
      host: z.string(),
      port: z.int(),
      /** Absent unless a directory was named. */
      watches: z.array(z.string()).nullable().default(null),
    }),
  ),
});
const figure = z.number();
const sessionSchema = z
  .object({
    traffic: z.object({
      established: figure,
      received: figure,
      sent: figure,
      outstanding: figure,
      lastOperation: z.string(),
      averageLatencyMs: figure,
      maxLatencyMs: figure,
    }),
    watched: z.array(z.object({ path: z.string(), mode: z.enum(WATCH_MODES) })).max(WATCHED_MAX),
    watchedTruncated: z.boolean(),
    identities: z.array(z.object({ scheme: z.string(), id: z.string() })),
  })
  .nullable();
const hotPathSchema = z.object({ path: z.string(), perSecond: figure });
const hotClientSchema = z.object({
  session: z.string(),
  host: z.string().nullable(),
  port: z.int(),
  perSecond: figure,
});
const hotSchema = z.object({
  spanMs: figure,
  every: figure,
  readsPerSecond: figure,
  writesPerSecond: figure,
  requestsPerSecond: figure,
  reads: z.array(hotPathSchema).max(HOT_MAX),
  writes: z.array(hotPathSchema).max(HOT_MAX),
  clients: z.array(hotClientSchema).max(HOT_MAX),
});
const endedSchema = z.object({ ended: z.boolean(), alreadyEnding: z.boolean() });
/** A question has 4096 characters at most, of which the sessions take the most. */
const DIRECTORY_CHARACTERS_MAX = 500;

export type MemberEvents = z.infer<typeof eventsSchema>;

type RemoteSession = z.infer<typeof sessionSchema>;

interface EventsAsked {
  /** Null where nothing was read of the member so far. */
  readonly start: string | null;
  readonly after: number;
  readonly limit: number;
  readonly wait?: boolean;
}

export interface RemoteClient {
  readonly member: number;
  readonly address: string;
  /** The names in the directory that it watches; null where that is not known. */
  readonly watches: readonly string[] | null;
}

export class OtherMembers {
  readonly ids: readonly number[];
  readonly #ask: (id: number, question: string) => Promise<string | null>;

  constructor(
    ids: readonly number[],
    ask: (id: number, question: string) => Promise<string | null>,
  ) {
    this.ids = ids;
    this.#ask = ask;
  }

  /** Null for a member that does not answer. */
  status(id: number): Promise<Readonly<Record<string, unknown>> | null> {
    return this.#answer(id, { kind: 'status' }, statusSchema);
  }

  /** With `wait` the answer comes when there are some, or after a second. */
  events(id: number, from: EventsAsked): Promise<MemberEvents | null> {
    const { start, ...rest } = from;
    const asked = start === null ? rest : { start, ...rest };
    return this.#answer(id, { kind: 'events', ...asked }, eventsSchema);
  }

  /** What is asked for most at the member, which watches its requests from then on. */
  hot(id: number): Promise<HotAnswer | null> {
    return this.#answer(id, { kind: 'hot' }, hotSchema);
  }

  /** What the member knows of a session that is connected to it; null if it does not answer. */
  session(member: number, session: SessionId): Promise<RemoteSession> {
    return this.#answer(member, { kind: 'session', session: prefixedHex(session) }, sessionSchema);
  }

  /** Ends a session at the member that leads. One that does not answer counts as not leading. */
  async endSession(leader: number, session: SessionId): Promise<EndOutcome> {
    const question = { kind: 'end', session: prefixedHex(session) };
    const answer = await this.#answer(leader, question, endedSchema);
    if (answer?.ended !== true) return 'notLeading';
    return answer.alreadyEnding === true ? 'alreadyEnding' : 'ended';
  }

  /**
   * Finds which of the sessions are connected to other members, and where, and what they watch in
   * a directory if one is given.
   */
  async clients(
    sessions: readonly SessionId[],
    directory: string | null = null,
  ): Promise<ReadonlyMap<SessionId, RemoteClient>> {
    const found = new Map<SessionId, RemoteClient>();
    const byHex = new Map(sessions.map((session) => [prefixedHex(session), session]));
    const escaped = JSON.stringify(directory ?? '').length;
    const isAsked = directory !== null && escaped <= DIRECTORY_CHARACTERS_MAX;
    let asking = this.ids;
    for (let at = 0; at < sessions.length; at += SESSIONS_PER_QUESTION) {
      const asked = sessions.slice(at, at + SESSIONS_PER_QUESTION).map(prefixedHex);
      const answers = await Promise.all(
        asking.map(async (member) => {
          const where = isAsked ? { directory } : {};
          const question = { kind: 'clients', sessions: asked, ...where };
          return { member, answer: await this.#answer(member, question, clientsSchema) };
        }),
      );
      // A member that was silent is not asked again, because each question may take two seconds.
      asking = answers.filter(({ answer }) => answer !== null).map(({ member }) => member);
      for (const { member, answer } of answers) {
        for (const { session, host, port, watches } of answer?.clients ?? []) {
          const known = byHex.get(session);
          const address = host === '' ? '' : addressText(host, port);
          if (known !== undefined) found.set(known, { member, address, watches });
        }
      }
    }
    return found;
  }

  async #answer<T>(id: number, question: object, schema: z.ZodType<T>): Promise<T | null> {
    const text = await this.#ask(id, JSON.stringify(question));
    if (text === null) return null;
    try {
      return schema.safeParse(JSON.parse(text)).data ?? null;
    } catch {
      return null;
    }
  }
}
