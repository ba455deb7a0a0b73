/**
 * Gets the state of a running member through its admin port.
 *
 * The user comes from the environment (http-url.ts). The received state is verified by its
 * digest before it is used.
 */
import { get, type IncomingMessage } from 'node:http';
import { errorMessage } from '@rookery/protocol';
import { OperatorError, readBackup, type StateHolder } from '@rookery/server';
import { refusal } from '../command/refusal.js';
import { httpUrl, userHeaders } from '../http/http-url.js';

export interface RunningMember {
  /** `http://host:port` of the member's admin port. */
  readonly url: string;
}

/** A member sends while its disk reads, so silence means that it hangs. */
const SILENCE_MS = 60_000;

/** Rejects with OperatorError. */
export async function fetchState({ url }: RunningMember): Promise<StateHolder> {
  const address = new URL('/api/v1/backup', httpUrl(url));
  try {
    const response = await ask(address);
    if (response.statusCode === 200) return { state: await readBackup(response) };
    throw await refusal(url, response.statusCode ?? 0, response);
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    const reason = errorMessage(error);
    throw new OperatorError(`${url} sent no backup: ${reason}`, { cause: error });
  }
}

function ask(url: URL): Promise<IncomingMessage> {
  const headers = userHeaders(process.env);
  return new Promise((resolve, reject) => {
    const request = get(url, { headers, timeout: SILENCE_MS }, resolve);
    request.on('timeout', () => request.destroy(new Error(`silent for ${SILENCE_MS} ms`)));
    request.on('error', reject);
  });
}
