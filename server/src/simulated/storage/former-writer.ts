/** Writes what a release left that kept its log in LevelDB: segments, and its meta record. */
import { type Proposal, ProposalBatch, type Zxid } from '@rookery/protocol';
import { z } from 'zod';
import type { KeyValueStore } from '../../storage/key-value.js';
import { META_NAME } from '../../storage/meta.js';
import { addChecksum, jsonWithChecksum, verifiedJson } from '../../storage/records.js';

export const HEADER = Uint8Array.of(0xff, 0x68);
export const SUCCESSOR = Uint8Array.of(0xff, 0x6e);
export const END = Uint8Array.of(0xff, 0x65);
/** What a segment said of those before it: not read any more. */
const PREDECESSORS = Uint8Array.of(0xff, 0x70);

export interface FormerSegment {
  readonly generation: number;
  readonly seq: number;
  readonly base?: Zxid | null;
  readonly groups: readonly (readonly Proposal[])[];
  readonly end?: Zxid;
  readonly hasNext?: boolean;
}

export async function writeFormerSegment(
  store: KeyValueStore,
  { generation, seq, base = null, groups, end, hasNext }: FormerSegment,
): Promise<void> {
  const open = await store.open(`log-${generation}-${seq}`);
  const put = async (key: Uint8Array, value: Uint8Array) => {
    await open.batch([{ type: 'put', key, value }], { sync: true });
  };
  const mark = (key: Uint8Array, value: object) => put(key, jsonWithChecksum(key, value));
  await mark(HEADER, { generation, seq, base });
  for (const group of groups) {
    const key = keyOf(group[0]?.zxid ?? 0);
    await put(key, addChecksum(key, ProposalBatch.of(group).bytes));
  }
  await mark(PREDECESSORS, []);
  if (end !== undefined) await mark(END, { last: end });
  if (hasNext === true) await mark(SUCCESSOR, { seq: seq + 1 });
  await open.close();
}

/** The key of a group that begins with this zxid. */
export function keyOf(zxid: Zxid): Uint8Array {
  const key = Buffer.alloc(8);
  key.writeBigUInt64BE(BigInt(zxid));
  return key;
}

/** Makes the meta record of a member one that such a release wrote. */
export async function writeFormerMeta(treeStore: KeyValueStore): Promise<void> {
  const open = await treeStore.open(META_NAME);
  for (const name of ['meta', 'meta-copy']) {
    const key = new TextEncoder().encode(name);
    const stored = (await open.get(key)) ?? new Uint8Array(0);
    const { logSeq: _, ...meta } = verifiedJson(name, key, stored, z.looseObject({}));
    const value = jsonWithChecksum(key, { ...meta, format: 4 });
    await open.batch([{ type: 'put', key, value }], { sync: true });
  }
  await open.close();
}
