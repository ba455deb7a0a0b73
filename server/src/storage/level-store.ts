/** KeyValueStore on LevelDB: a directory with one LevelDB database per name. */
import type { KeyValueStore } from './key-value.js';

export class LevelStore {
  static async open(_setup: {
    readonly directory: string;
    readonly memberId: number;
  }): Promise<KeyValueStore> {
    throw new Error('skeleton');
  }
}

/**
 * Opens `<dataDir>/<id>/tree` and `<dataLogDir>/<id>/log`. Throws IdentityError, StoreLockedError,
 * DirectoryError or FormatError, having written nothing when the directory is another member's.
 */
export async function openLevelStores(_setup: {
  readonly dataDir: string;
  readonly dataLogDir: string;
  readonly memberId: number;
}): Promise<{ readonly treeStore: KeyValueStore; readonly logStore: KeyValueStore }> {
  throw new Error('skeleton');
}
