/** Placeholder while the conversion is written by its owner. */
import type { Proposal, Zxid } from '@rookery/protocol';
import type { KeyValueStore } from './key-value.js';

export interface FormerLog {
  /** What the log starts after. */
  readonly base: Zxid;
  proposals(): AsyncGenerator<readonly Proposal[]>;
}
export async function openFormerLog(
  _store: KeyValueStore,
  _at: { readonly generation: number; readonly checkpoint: Zxid },
): Promise<FormerLog> {
  throw new Error('not yet');
}
export async function formerGenerations(_store: KeyValueStore): Promise<readonly number[]> {
  return [];
}
export async function destroyFormerLog(_store: KeyValueStore): Promise<void> {}
