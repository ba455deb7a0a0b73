/**
 * Writes long text to standard output: it waits while the reader is slower, so that memory stays
 * bounded.
 */
import { once } from 'node:events';

export async function print(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
}
