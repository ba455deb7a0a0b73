/**
 * Asks `/api/v1` at the admin port of a member of Rookery. The user comes from the environment
 * (http/http.ts). An answer comes from a wire: it has the form that its caller expects, or it is an
 * error.
 */
import { addressText } from '@rookery/protocol';
import { OperatorError } from '@rookery/server';
import { z } from 'zod';
import { httpUrl, textUpTo, USER_VARIABLE, userHeaders } from '../http/http.js';
import { messageOf } from '../machine/error-code.js';
import type { NamedAddress } from './addresses.js';
import { refusal } from './refusal.js';

const TIMEOUT_MS = 10_000;
/** The longest answers of a member, pages of a thousand sessions and lists of paths, have less. */
const ANSWER_CHARACTERS_MAX = 32 << 20;

const membersSchema = z.object({
  members: z.array(
    z.object({ id: z.number(), client: z.object({ host: z.string(), port: z.number() }) }),
  ),
});

export class AdminPort {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;

  /** Throws OperatorError for another address than that of an HTTP port. */
  constructor(url: string, environment: NodeJS.ProcessEnv) {
    const { username, password } = httpUrl(url);
    if (username !== '' || password !== '') {
      throw new OperatorError(`--url: expected no user in it: set ${USER_VARIABLE} instead.`);
    }
    let end = url.length;
    while (url[end - 1] === '/') end -= 1;
    this.#url = url.slice(0, end);
    this.#headers = userHeaders(environment);
  }

  /** `path` is below `/api/v1`. Rejects with OperatorError, also for an answer of another form. */
  async get<T>(schema: z.ZodType<T>, path: string, signal: AbortSignal): Promise<T> {
    const answer = await this.ask('GET', path, signal);
    return await parsedAnswer(schema, answer);
  }

  /** Rejects with OperatorError unless the status is a good one, or among the expected ones. */
  async ask(
    method: string,
    path: string,
    signal: AbortSignal,
    expected: readonly number[] = [],
  ): Promise<Response> {
    const headers = this.#headers;
    const until = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    let response: Response;
    try {
      response = await fetch(`${this.#url}/api/v1${path}`, {
        method,
        headers,
        signal: until,
        redirect: 'manual',
      });
    } catch (cause) {
      throw new OperatorError(`${this.#url} does not answer: ${reasonOf(cause)}`, { cause });
    }
    const to = response.headers.get('location');
    if (response.status >= 300 && response.status < 400 && to !== null) {
      throw new OperatorError(
        `${this.#url} sends the request on to ${to}, which could read the password: it is not ` +
          'sent there. Give that address as --url if it is a member.',
      );
    }
    if (response.ok || expected.includes(response.status)) return response;
    throw await refusal(this.#url, response.status, response.body);
  }

  /** Where clients reach the members. */
  async servers(signal: AbortSignal): Promise<readonly NamedAddress[]> {
    const { members } = await this.get(membersSchema, '/members', signal);
    return members.map(({ id, client: { host, port } }) => {
      return { id, host, port, address: addressText(host, port) };
    });
  }
}

/** Rejects with OperatorError for an answer of another form, or one that is longer than any. */
export async function parsedAnswer<T>(schema: z.ZodType<T>, answer: Response): Promise<T> {
  const { data } = schema.safeParse(await jsonOf(answer));
  if (data === undefined) throw new OperatorError('The answer is not one of a member of Rookery.');
  return data;
}

/** Resolves with null where there is no JSON. */
async function jsonOf({ body }: Response): Promise<unknown> {
  try {
    const text = body === null ? '' : await textUpTo(body, ANSWER_CHARACTERS_MAX);
    return text.length > ANSWER_CHARACTERS_MAX ? null : JSON.parse(text);
  } catch {
    return null;
  }
}

/** If the port is not open, fetch has the reason as the cause of its error. */
function reasonOf(error: unknown): string {
  return messageOf(error instanceof Error ? (error.cause ?? error) : error);
}
