/**
 * A recipe run once for each operation of the protocol that it uses, with the connection cut right
 * there: the server has done what was asked, and its reply is lost. After each run nobody watches
 * and nothing is left.
 */
import type { Client } from '@rookery/client';
import { OpCode } from '@rookery/protocol';
import { expect } from 'vitest';
import type { Ensemble } from '../harness/ensemble.js';
import { until } from '../harness/wait.js';
import { namesIn } from './directory.js';
import { useReplyLosingClient } from './reply-losing-client.js';

const STEPS = [
  'create2',
  'createContainer',
  'createTtl',
  'delete',
  'exists',
  'getData',
  'setData',
  'sync',
  'getChildren2',
  'multi',
  'addWatch',
] as const;

export interface Run {
  /** The client whose reply is lost. */
  readonly client: Client;
  /** The run's own directory, in which nothing may be left. */
  readonly path: string;
}

/** Gives the steps at which a reply was lost indeed: what the caller knows of the recipe. */
export async function atEachStep(
  options: { readonly ensemble: Ensemble; readonly base: string; readonly control: Client },
  run: (run: Run) => Promise<void>,
): Promise<string[]> {
  const lost: string[] = [];
  for (const step of STEPS) {
    const { client, loseReplyTo } = await useReplyLosingClient(options.ensemble);
    const path = `${options.base}/${step}`;
    void loseReplyTo(OpCode[step]).then(() => lost.push(step));
    await run({ client, path });
    expect(client.watchCount, `watches after a lost reply to ${step}`).toBe(0);
    await untilEmpty(options.control, path);
    await client.close();
  }
  return lost;
}

/**
 * Waits until there is nothing below it but empty directories; deletions may go on for a moment.
 */
export async function untilEmpty(client: Client, path: string): Promise<void> {
  await until(`nothing is left in ${path}`, 30_000, async () => {
    const names = await namesIn(client, path);
    for (const name of names) await untilLeaf(client, `${path}/${name}`);
    return true;
  });
}

async function untilLeaf(client: Client, path: string): Promise<void> {
  const stat = await client.exists(path);
  if (stat === null) return;
  const { children } = await client.getChildren(path);
  const isDirectory = stat.cversion > 0 && stat.ephemeralOwner === 0n;
  if (children.length === 0 && isDirectory) return;
  if (children.length === 0) throw new Error(`${path} is left`);
  for (const child of children) await untilLeaf(client, `${path}/${child}`);
}
