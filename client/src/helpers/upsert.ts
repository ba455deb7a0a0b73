/**
 * Create or set: afterwards the znode has the data, whether it was there before or not.
 *
 * Sets first, for what exists is the usual case; a race with creators and deleters is run again.
 * Not retried after a lost reply by itself: doing it twice does no harm but to what others have
 * written in between, so wrap it in `retry(..., { idempotent: true })` where that is acceptable.
 */
import { NodeExistsError, NoNodeError } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import type { CreateMode, Data, Stat } from '../api/values.js';
import { type CreateRecursiveOptions, createAsAsked } from './create-recursive.js';
import type { ParentMode } from './ensure-path.js';
import { operationOptions } from './options.js';

export interface UpsertOptions extends Omit<CreateRecursiveOptions, 'mode' | 'parents'> {
  /** Of a znode that is created; sequential ones, always new, cannot be set. */
  readonly mode?: Exclude<
    CreateMode,
    'persistentSequential' | 'ephemeralSequential' | 'persistentSequentialWithTtl'
  >;
  /** What missing parents are created as; by default they are not, and NoNodeError says so. */
  readonly parents?: ParentMode | undefined;
}

export interface Upserted {
  readonly path: string;
  readonly stat: Stat;
  /** Whether it was created rather than set. */
  readonly created: boolean;
}

/** Losing so many races in a row is somebody's loop. */
const ROUNDS_MAX = 64;

/** Errors of setData and create; the version is not looked at: for that use `setData`. */
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
