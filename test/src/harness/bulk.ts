/**
 * Many writes in a row, for filling trees and logs: batch after batch, each in one segment.
 *
 * Every write must succeed; for load during which members die there is WriteLoad.
 */
import { sendCreate, sendSetData } from './operations.js';
import type { Reply, WireClient } from './wire-client.js';

const CHUNK = 64;

/** Creates `parent` and `count` children of it with `bytes` of data each. */
export async function fillTree(
  client: WireClient,
  options: { readonly parent: string; readonly count: number; readonly bytes: number },
): Promise<void> {
  const { parent, count, bytes } = options;
  await bulk(1, client, () => sendCreate(client, parent));
  await bulk(count, client, (i) => sendCreate(client, `${parent}/${i}`, dataOf(i, bytes)));
}

/** Sets `path` this many times. */
export async function overwrite(
  client: WireClient,
  options: { readonly path: string; readonly count: number; readonly bytes: number },
): Promise<void> {
  const { path, count, bytes } = options;
  await bulk(count, client, (i) => sendSetData(client, path, dataOf(i, bytes)));
}

export async function bulk(
  count: number,
  client: WireClient,
  send: (index: number) => Promise<Reply>,
): Promise<void> {
  for (let first = 0; first < count; first += CHUNK) {
    const indexes = Array.from({ length: Math.min(CHUNK, count - first) }, (_, i) => first + i);
    const replies = await Promise.all(client.pipeline(() => indexes.map(send)));
    const failed = replies.find((reply) => reply.error !== 0);
    if (failed !== undefined) throw new Error(`a bulk write failed with ${failed.error}`);
  }
}

/** The data differs from write to write and compresses badly. */
function dataOf(index: number, bytes: number): string {
  let text = '';
  for (let word = index; text.length < bytes; word = Math.imul(word + 1, 0x9e3779b1) >>> 0) {
    text += word.toString(36);
  }
  return text.slice(0, bytes);
}
