/**
 * Writes long text to standard output: it waits while the reader is slower, so that memory stays
 * bounded.
 */
import { once } from 'node:events';
import { visible } from '../terminal/visible-text.js';

export async function print(text: string): Promise<void> {
  const shown = process.stdout.isTTY ? visible(text) : text;
  if (!process.stdout.write(shown)) await once(process.stdout, 'drain');
}
