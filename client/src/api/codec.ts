/**
 * The interface of codecs, which turn values into the data of znodes and back. Types only; `json`,
 * `text` and `bytes` implement it.
 */
import type { Data } from './values.js';

/**
 * `T` is the type that is read and `In` the type that may be written. They differ if a schema fills
 * in defaults or transforms values. Both functions may throw, for instance InvalidDataError. `path`
 * is the znode's path, for use in the error message.
 */
export interface Codec<T, In = T> {
  readonly parse: (data: Buffer | null, path?: string) => T;
  readonly format: (value: In, path?: string) => Data;
}

/**
 * A schema that follows the Standard Schema specification, version 1, as those of zod, valibot and
 * arktype do. Its `validate` must return a result and not a promise.
 */
export interface StandardSchema<In = unknown, Out = In> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Out> | Promise<SchemaResult<Out>>;
    readonly types?: { readonly input: In; readonly output: Out } | undefined;
  };
}

export type SchemaResult<Out> =
  | { readonly value: Out; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}
