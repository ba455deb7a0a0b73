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

/** The work's result; its error is told with what stands in the directories then. */
export async function explained<T>(
  client: Client,
  directories: readonly string[],
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const standing: string[] = [];
    for (const directory of directories) standing.push(await standingIn(client, directory));
    throw new Error([String(cause), ...standing].join('\n'), { cause });
  }
}

/** A line for each znode: the session that owns it, and the first line of its data. */
async function standingIn(client: Client, directory: string): Promise<string> {
  const lines = [`${directory}:`];
  for (const name of await namesIn(client, directory)) {
    const node = await client.getData(`${directory}/${name}`).catch(() => null);
    const owner = node?.stat.ephemeralOwner.toString(16) ?? 'gone';
    lines.push(`  ${name} of ${owner}: ${(node?.data ?? '').toString().split('\n')[0]}`);
  }
  return lines.join('\n');
}
