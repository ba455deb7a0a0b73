/**
 * Sends a four-letter word to a member and reads the whole answer without keeping it.
 *
 * A refused or broken connection counts as an answer as well: an attacker asks again.
 */
import net from 'node:net';
import type { Host } from '../load/dial.js';

export async function askAgainAndAgain(
  host: Host,
  word: string,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) await askWord(host, word, signal);
}

/** Resolves with the size of the answer in bytes, when the connection ends or is aborted. */
function askWord(host: Host, word: string, signal: AbortSignal): Promise<number> {
  return new Promise((resolve) => {
    let bytes = 0;
    const socket = net.connect(host, () => socket.write(word));
    const onAbort = () => socket.destroy();
    signal.addEventListener('abort', onAbort, { once: true });
    socket.on('data', (chunk) => {
      bytes += chunk.length;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      signal.removeEventListener('abort', onAbort);
      resolve(bytes);
    });
  });
}
