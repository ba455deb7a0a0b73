/** Placeholder while the conversion is written by its owner. */
import type { Proposal, Zxid } from '@rookery/protocol';
import type { KeyValueStore } from './key-value.js';

export interface FormerLog {
  /** What the log starts after. */
  readonly base: Zxid;
  proposals(): AsyncGenerator<readonly Proposal[]>;
}
export declare function openFormerLog(
  store: KeyValueStore,
  at: { readonly generation: number; readonly checkpoint: Zxid },
): Promise<FormerLog>;
export declare function formerGenerations(store: KeyValueStore): Promise<readonly number[]>;
export declare function destroyFormerLog(store: KeyValueStore): Promise<void>;
