/**
 * The views that `client.with(...)` returns, which have their own defaults. Types only.
 */

import type { Codec } from './codec.js';
import type { RetryPolicy } from './retry-policy.js';
import type {
  Acl,
  Created,
  CreateOptions,
  OperationOptions,
  Stat,
  VersionOptions,
  WatchedReadOptions,
} from './values.js';

export interface ViewOptions {
  /**
   * Retries operations that failed with a transient error and cannot have taken effect, as retry()
   * does: within the session of the call, and never one that is `ambiguous`. It does not apply to
   * addAuth() and reconfig(), nor to watches, listChildren() and guaranteed deletions, which have
   * their own rules for retries.
   */
  readonly retry?: RetryPolicy | undefined;
  /** The ACL of znodes that are created without one, also in transactions. */
  readonly acl?: readonly Acl[] | undefined;
}

export interface TypedViewOptions<T, In> extends ViewOptions {
  /** Turns values into data and back, for instance json(schema). */
  readonly codec: Codec<T, In>;
}

/** The data of a znode as a value. */
export interface TypedNode<T> {
  readonly value: T;
  readonly stat: Stat;
}

/**
 * Gives access to znodes whose data are values of one kind. `T` is the type that is read and `In`
 * the type that may be written. The errors are those of the operation of the same name and those
 * that the codec throws, such as InvalidDataError; a codec's error means that nothing was written.
 */
export interface TypedClient<T, In = T> {
  create(path: string, value: In, options?: CreateOptions): Promise<Created>;
  getData(path: string, options?: WatchedReadOptions): Promise<TypedNode<T>>;
  setData(path: string, value: In, options?: VersionOptions): Promise<Stat>;
  /**
   * Writes the result of `change`, which is called with the current value or with undefined if
   * there is no znode, and resolves with what was written. It calls `change` again if another write
   * came in between. A missing znode is created, but its parent must exist. As with any write, the
   * error may be `ambiguous`; use Configuration to resolve that.
   */
  update(
    path: string,
    change: (present: T | undefined) => In,
    options?: OperationOptions,
  ): Promise<In>;
}
