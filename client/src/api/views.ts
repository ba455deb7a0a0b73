/**
 * What `client.with(...)` gives: views of a client with defaults of their own. Types only.
 */
import type { RetryPolicy } from '../helpers/retry-policy.js';
import type { Codec } from './codec.js';
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
   * Tries operations again that fail with what passes and cannot have taken effect, as retry()
   * does: within the session of the call, and never what is `ambiguous`. Watches, listChildren()
   * and guaranteed deletions have their own ways and are not concerned.
   */
  readonly retry?: RetryPolicy | undefined;
  /** Of znodes that are created without one, in transactions too. */
  readonly acl?: readonly Acl[] | undefined;
}

export interface TypedViewOptions<T, In> extends ViewOptions {
  /** How values are written as data and read from it, by json(schema) for one. */
  readonly codec: Codec<T, In>;
}

/** A znode's data as a value. */
export interface TypedNode<T> {
  readonly value: T;
  readonly stat: Stat;
}

/**
 * Znodes whose data are values of one kind. `T` is what is read, `In` what may be written. Errors
 * are those of the operations of the same name, and what the codec throws, such as
 * InvalidDataError; nothing is written then.
 */
export interface TypedClient<T, In = T> {
  create(path: string, value: In, options?: CreateOptions): Promise<Created>;
  getData(path: string, options?: WatchedReadOptions): Promise<TypedNode<T>>;
  setData(path: string, value: In, options?: VersionOptions): Promise<Stat>;
  /**
   * Writes what `change` makes of the present value, undefined when there is no znode, and gives it
   * back; asks again when another write came in between. A missing znode is created, its parent
   * must exist. May be `ambiguous`, as any write; Configuration knows more then.
   */
  update(
    path: string,
    change: (present: T | undefined) => In,
    options?: OperationOptions,
  ): Promise<In>;
}
