/** Turns a refusal of a member's HTTP port into a mistake of the caller. */
import { OperatorError } from '@rookery/server';
import { z } from 'zod';
import { textUpTo, USER_VARIABLE } from '../http/http.js';
import { clean } from './values.js';

const problemSchema = z.object({ detail: z.string() });

/** A refusal with a longer text is not read to its end. */
const REFUSAL_CHARACTERS_MAX = 10_000;

/**
 * Of a body that is a problem (RFC 9457) its sentence is taken. Never rejects: if the body cannot
 * be read, the status is what is known.
 */
export async function refusal(
  url: string,
  status: number,
  body: AsyncIterable<Uint8Array> | null,
): Promise<OperatorError> {
  const text = body === null ? '' : await textUpTo(body, REFUSAL_CHARACTERS_MAX).catch(() => '');
  // It goes to a terminal as it is.
  const detail = clean(detailOf(text) ?? `status ${status}`);
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
