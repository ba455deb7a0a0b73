/**
 * Sessions as a member of Rookery tells them at its admin port, in pages and with all kinds of
 * watches, and the only way to end one. The user comes from the environment (http-url.ts).
 */
import { OperatorError } from '@rookery/server';
import { z } from 'zod';
import { httpUrl, USER_VARIABLE, userHeaders } from '../../http-url.js';
import { addressText } from '../../status/named-servers.js';
import { NoAnswerError } from '../failures.js';
import type { Session, SessionDetail, SessionSource } from './session.js';

const TIMEOUT_MS = 10_000;
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
  watched: z.array(z.object({ path: z.string(), mode: z.string() })).nullable(),
});
const membersSchema = z.object({
  members: z.array(
    z.object({ id: z.number(), client: z.object({ host: z.string(), port: z.number() }) }),
  ),
});
const problemSchema = z.object({ detail: z.string() });

export class SessionsFromAdminPort implements SessionSource {
  readonly gaps: readonly string[] = [];
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  #servers: ReadonlyMap<number, string> | null = null;

  /** Throws OperatorError for another address than that of an HTTP port. */
  constructor(url: string, environment: NodeJS.ProcessEnv) {
    const { username, password } = httpUrl(url);
    if (username !== '' || password !== '') {
      throw new OperatorError(`--url: expected no user in it: set ${USER_VARIABLE} instead.`);
    }
    this.#url = url.replace(/\/+$/, '');
    this.#headers = userHeaders(environment);
  }

  async *list(signal: AbortSignal): AsyncGenerator<Session> {
    let after: string | null = null;
    do {
      const place: string = after === null ? '' : `&after=${after}`;
      const answer = await this.#ask('GET', `/sessions?limit=${PAGE}${place}`, signal);
      const page = parsed(pageSchema, await answer.json());
      for (const session of page.sessions) yield await this.#written(session, signal);
      after = page.next;
    } while (after !== null);
  }

  async one(session: string, signal: AbortSignal): Promise<SessionDetail | null> {
    const answer = await this.#ask('GET', `/sessions/${session}`, signal, [404]);
    if (answer.status === 404) return null;
    const { ephemeralPaths, watched, ...facts } = parsed(detailSchema, await answer.json());
    return { ...(await this.#written(facts, signal)), ephemeralPaths, watched };
  }

  /**
   * Resolves once the leader has taken it, whichever member is asked. Rejects with NoAnswerError if
   * there is no such session, otherwise with OperatorError.
   */
  async end(session: string, signal: AbortSignal): Promise<void> {
    const answer = await this.#ask('DELETE', `/sessions/${session}`, signal, [404]);
    if (answer.status === 404) throw new NoAnswerError(`There is no session ${session}.`);
  }

  async #written(
    { member, connection, ...facts }: z.infer<typeof sessionSchema>,
    signal: AbortSignal,
  ): Promise<Session> {
    const server = member === null ? null : await this.#serverOf(member, signal);
    const { established = null, ...rest } = connection ?? {};
    return {
      lastOperation: null,
      received: null,
      sent: null,
      outstanding: null,
      averageLatencyMs: null,
      maxLatencyMs: null,
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
      const answer = await this.#ask('GET', '/members', signal);
      const { members } = parsed(membersSchema, await answer.json());
      this.#servers = new Map(
        members.map(({ id, client: { host, port } }) => [id, addressText(host, port)]),
      );
    }
    return this.#servers.get(member) ?? `member ${member}`;
  }

  async #ask(
    method: string,
    path: string,
    signal: AbortSignal,
    expected: readonly number[] = [],
  ): Promise<Response> {
    const headers = this.#headers;
    const until = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    let response: Response;
    try {
      response = await fetch(`${this.#url}/api/v1${path}`, { method, headers, signal: until });
    } catch (cause) {
      throw new OperatorError(`${this.#url} does not answer: ${reasonOf(cause)}`, { cause });
    }
    if (response.ok || expected.includes(response.status)) return response;
    const problem = problemSchema.safeParse(await response.json().catch(() => null));
    const detail = problem.data?.detail ?? `status ${response.status}`;
    const hint = response.status === 401 ? ` Set ${USER_VARIABLE} to user:password.` : '';
    throw new OperatorError(`${this.#url} refused: ${detail}${hint}`);
  }
}

function parsed<T>(schema: z.ZodType<T>, value: unknown): T {
  const { data } = schema.safeParse(value);
  if (data === undefined) throw new OperatorError('The answer is not one of a member of Rookery.');
  return data;
}

/** Where nobody listens, fetch has the reason as the cause of its error. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (!(cause instanceof Error)) return String(cause);
  return cause.message === '' && 'code' in cause ? String(cause.code) : cause.message;
}
