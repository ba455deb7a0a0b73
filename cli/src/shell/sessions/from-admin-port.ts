/**
 * Reads sessions from the admin port of a member of Rookery, in pages and with all kinds of
 * watches; the only way to end one.
 */
import { z } from 'zod';
import { type AdminPort, parsedAnswer } from '../../command/admin-port.js';
import { NoAnswerError } from '../../command/failures.js';
import { type Session, type SessionDetail, type SessionSource, UNKNOWN } from './session.js';

const PAGE = 1000;

const sessionSchema = z.object({
  session: z.string(),
  timeoutMs: z.number(),
  ephemerals: z.number(),
  member: z.number().nullable(),
  address: z.string().nullable(),
  connection: z
    .object({
      established: z.number(),
      received: z.number(),
      sent: z.number(),
      outstanding: z.number(),
      lastOperation: z.string(),
      averageLatencyMs: z.number(),
      maxLatencyMs: z.number(),
    })
    .nullable(),
});
const pageSchema = z.object({ sessions: z.array(sessionSchema), next: z.string().nullable() });
const detailSchema = sessionSchema.extend({
  ephemeralPaths: z.array(z.string()),
  ephemeralPathsTruncated: z.boolean(),
  watched: z.array(z.object({ path: z.string(), mode: z.string() })).nullable(),
  watchedTruncated: z.boolean().nullable(),
});

export class SessionsFromAdminPort implements SessionSource {
  readonly gaps: readonly string[] = [];
  readonly #port: AdminPort;
  #servers: ReadonlyMap<number | null, string> | null = null;

  constructor(port: AdminPort) {
    this.#port = port;
  }

  async *list(signal: AbortSignal): AsyncGenerator<Session> {
    let after: string | null = null;
    do {
      const place: string = after === null ? '' : `&after=${after}`;
      const path = `/sessions?limit=${PAGE}${place}`;
      const page: z.infer<typeof pageSchema> = await this.#port.get(pageSchema, path, signal);
      for (const session of page.sessions) yield await this.#shown(session, signal);
      after = page.next;
    } while (after !== null);
  }

  async one(session: string, signal: AbortSignal): Promise<SessionDetail | null> {
    const answer = await this.#port.ask('GET', `/sessions/${session}`, signal, [404]);
    if (answer.status === 404) return null;
    const { ephemeralPaths, ephemeralPathsTruncated, watched, watchedTruncated, ...facts } =
      await parsedAnswer(detailSchema, answer);
    const shown = await this.#shown(facts, signal);
    return { ...shown, ephemeralPaths, ephemeralPathsTruncated, watched, watchedTruncated };
  }

  /**
   * Resolves once the leader has taken it, whichever member is asked. Rejects with NoAnswerError if
   * there is no such session, otherwise with OperatorError.
   */
  async end(session: string, signal: AbortSignal): Promise<void> {
    const answer = await this.#port.ask('DELETE', `/sessions/${session}`, signal, [404]);
    if (answer.status === 404) throw new NoAnswerError(`There is no session ${session}.`);
  }

  async #shown(
    { member, connection, ...facts }: z.infer<typeof sessionSchema>,
    signal: AbortSignal,
  ): Promise<Session> {
    const server = member === null ? null : await this.#serverOf(member, signal);
    const { established = null, ...rest } = connection ?? {};
    return {
      ...UNKNOWN,
      sinceMs: established,
      ...rest,
      session: facts.session,
      timeoutMs: facts.timeoutMs,
      ephemerals: facts.ephemerals,
      server,
      // '' is a client within the member itself, such as a reader of its admin port.
      address: facts.address === '' ? 'the member itself' : facts.address,
    };
  }

  async #serverOf(member: number, signal: AbortSignal): Promise<string> {
    if (this.#servers === null) {
      const servers = await this.#port.servers(signal);
      this.#servers = new Map(servers.map(({ id, address }) => [id, address]));
    }
    return this.#servers.get(member) ?? `member ${member}`;
  }
}
