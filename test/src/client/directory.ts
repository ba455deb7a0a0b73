/**
 * What stands in a directory, as of all that was committed before the question: for tests that
 * look at the znodes of recipes from outside.
 */
import type { Client } from '@rookery/client';
import { until } from '../harness/wait.js';

const DEADLINE_MS = 60_000;

/** None when there is no such directory. */
export async function namesIn(client: Client, path: string): Promise<readonly string[]> {
  await client.sync(path);
  return (await client.exists(path)) === null ? [] : (await client.getChildren(path)).children;
}

/** Waits until it has so many children. */
export async function untilNames(client: Client, path: string, count: number): Promise<void> {
  await until(`${path} has ${count} children`, DEADLINE_MS, async () => {
    const names = await namesIn(client, path);
    return names.length === count ? true : undefined;
  });
}
