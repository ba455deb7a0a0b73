/**
 * Codecs: JSON, checked by a schema when it is read and when it is written, text, and bytes.
 *
 * Checked is what stands in the znode, or is to: the value after its way through JSON, so that what
 * is written can be read by whoever has the same schema. Keeps nothing, throws InvalidDataError.
 */
import type { Codec, SchemaIssue, StandardSchema } from '../api/codec.js';
import { type DataIssue, InvalidDataError, OptionError } from '../errors.js';

/** Any JSON, unchecked; null data is no JSON. */
export function json(): Codec<unknown>;
/**
 * JSON that the schema accepts, both ways. What is read is what the schema makes of it, with its
 * defaults and transformations; what is written is the value as given. OptionError for what is no
 * Standard Schema. InvalidDataError when there is no JSON or the schema refuses it.
 */
export function json<In, Out>(schema: StandardSchema<In, Out>): Codec<Out, In>;
export function json(schema?: StandardSchema<unknown, unknown>): Codec<unknown> {
  const check = schema === undefined ? null : checker(schema);
  return {
    parse: (data, path) => {
      const value = parsed(data, path);
      return check === null ? value : check(value, { path, direction: 'read' });
    },
    format: (value, path) => {
      const text = formatted(value, path);
      check?.(JSON.parse(text), { path, direction: 'write' });
      return text;
    },
  };
}

/** UTF-8; null data is the empty string. */
export const text: Codec<string> = {
  parse: (data) => data?.toString() ?? '',
  format: (value) => value,
};

/** Data as it is. */
export const bytes: Codec<Buffer | null, Uint8Array | string | null> = {
  parse: (data) => data,
  format: (value) => value,
};

export interface CheckedData {
  /** Of the znode. */
  readonly path: string | undefined;
  readonly direction: 'read' | 'write';
}

/** Gives what the schema makes of a value; throws InvalidDataError. OptionError for no schema. */
export function checker<Out>(
  schema: StandardSchema<unknown, Out>,
): (value: unknown, of: CheckedData) => Out {
  const standard = isSchema(schema) ? schema['~standard'] : null;
  if (standard?.version !== 1 || typeof standard.validate !== 'function') {
    throw new OptionError('schema', 'is no Standard Schema of version 1');
  }
  return (value, of) => {
    const result = standard.validate(value);
    if (result instanceof Promise) {
      result.catch(() => {}); // it is not asked for
      throw new OptionError(
        'schema',
        'answers by a promise; only schemas that do not wait can be used',
      );
    }
    if (result.issues === undefined) return result.value;
    throw new InvalidDataError({ ...of, issues: result.issues.map(issueOf) });
  };
}

/** Some are functions. */
function isSchema(schema: unknown): boolean {
  return (typeof schema === 'object' || typeof schema === 'function') && schema !== null;
}

function issueOf({ message, path = [] }: SchemaIssue): DataIssue {
  const keys = path.map((segment) => (typeof segment === 'object' ? segment.key : segment));
  return { message, at: keys.map(String).join('.') };
}

function parsed(data: Buffer | null, path: string | undefined): unknown {
  try {
    return JSON.parse(data?.toString() ?? '');
  } catch (cause) {
    const issues = [{ message: data === null ? 'there is none' : 'it is no JSON', at: '' }];
    throw new InvalidDataError({ path, direction: 'read', issues, cause });
  }
}

function formatted(value: unknown, path: string | undefined): string {
  let cause: unknown;
  try {
    const json: string | undefined = JSON.stringify(value);
    if (json !== undefined) return json;
  } catch (error) {
    // A cycle, a bigint.
    cause = error;
  }
  const issues = [{ message: 'it cannot be written as JSON', at: '' }];
  throw new InvalidDataError({ path, direction: 'write', issues, cause });
}
