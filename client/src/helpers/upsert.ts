/**
 * Creates or sets a znode: afterwards it has the data, whether or not it existed before.
 *
 * It sets first, because the znode usually exists, and starts again if it loses a race with
 * creators and deleters. It does not retry after a lost reply, because repeating it may overwrite
 * what others have written since. Where that is acceptable, wrap it in `retry(..., { idempotent:
 * true })`.
 */
import { NodeExistsError, NoNodeError } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import type { CreateMode, Data, Stat } from '../api/values.js';
import { type CreateRecursiveOptions, createAsAsked } from './create-recursive.js';
import type { ParentMode } from './ensure-path.js';
import { operationOptions } from './options.js';

export interface UpsertOptions extends Omit<CreateRecursiveOptions, 'mode' | 'parents'> {
  /**
   * The mode of a znode that is created. Sequential modes are excluded, because they always create.
   */
  readonly mode?: Exclude<
    CreateMode,
    'persistentSequential' | 'ephemeralSequential' | 'persistentSequentialWithTtl'
  >;
  /**
   * The mode of missing parents. By default they are not created, and the call rejects with
   * NoNodeError.
   */
  readonly parents?: ParentMode | undefined;
}

export interface Upserted {
  readonly path: string;
  readonly stat: Stat;
  /** Whether the znode was created rather than set. */
  readonly created: boolean;
}

/** Losing so many races in a row means that another client creates and deletes in a loop. */
const ROUNDS_MAX = 64;

/**
 * Rejects with the errors of setData and create. It ignores the version; use `setData` to check it.
 */
export async function upsert(
  client: Client,
  path: string,
  data: Data,
  options: UpsertOptions = {},
): Promise<Upserted> {
  const operation = operationOptions(options);
  for (let round = 1; ; round++) {
    try {
      const stat = await client.setData(path, data, operation);
      return { path, stat, created: false };
    } catch (error) {
      if (!(error instanceof NoNodeError)) throw error;
    }
    try {
      return { ...(await createAsAsked(client, path, data, options)), created: true };
    } catch (error) {
      if (!(error instanceof NodeExistsError) || round === ROUNDS_MAX) throw error;
    }
  }
}
