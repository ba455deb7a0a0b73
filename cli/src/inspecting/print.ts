/**
 * Standard output for what may be long: it waits while whoever reads it is slower, so that memory
 * stays bounded.
 */
import { once } from 'node:events';

export async function print(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
}
