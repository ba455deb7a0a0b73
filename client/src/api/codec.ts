/**
 * How values are written as the data of znodes and read from it. Types only; `json` and `text` are
 * codecs.
 */
import type { Data } from './values.js';

/**
 * `T` is what is read, `In` what may be written: unequal where a schema fills in defaults or
 * transforms. Both functions may throw, InvalidDataError for one; `path` is that of the znode, for
 * the message.
 */
export interface Codec<T, In = T> {
  readonly parse: (data: Buffer | null, path?: string) => T;
  readonly format: (value: In, path?: string) => Data;
}

/**
 * A schema by the Standard Schema specification, version 1: of zod, valibot, arktype and others.
 * Its `validate` must answer at once, not by a promise.
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
