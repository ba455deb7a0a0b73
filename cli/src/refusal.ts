/** What an HTTP port of a member says when it refuses a request, as a mistake of the caller. */
import { OperatorError } from '@rookery/server';
import { z } from 'zod';
import { USER_VARIABLE } from './http-url.js';
import { clean } from './shell/values.js';

const problemSchema = z.object({ detail: z.string() });

/** `answer` is the body as it came; of a problem (RFC 9457) its sentence is taken. */
export function refusal(url: string, status: number, answer: string): OperatorError {
  // It goes to a terminal as it is.
  const detail = clean(detailOf(answer) ?? `status ${status}`);
  const hint = status === 401 ? ` Set ${USER_VARIABLE} to user:password.` : '';
  return new OperatorError(`${url} refused: ${detail}${hint}`);
}

function detailOf(answer: string): string | undefined {
  try {
    return problemSchema.safeParse(JSON.parse(answer)).data?.detail;
  } catch {
    return undefined;
  }
}
