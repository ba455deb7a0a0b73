/**
 * Codecs for JSON, which a schema checks on reading and on writing, for text and for bytes.
 *
 * What is checked is the stored form: the value after its conversion to JSON and back, so that
 * anyone with the same schema can read what was written. They keep no state and throw
 * InvalidDataError.
 */
import type { Codec, SchemaIssue, StandardSchema } from '../api/codec.js';
import { type DataIssue, InvalidDataError, OptionError } from '../api/errors.js';

/** Any JSON, unchecked. Null data is not JSON. */
export function json(): Codec<unknown>;
/**
 * JSON that the schema accepts, in both directions. Reading returns the output of the schema, with
 * its defaults and transformations; writing stores the value as given. Throws OptionError if the
 * argument is not a Standard Schema, and InvalidDataError if the data is not JSON or the schema
 * rejects it.
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

/** UTF-8 text. Null data is read as the empty string. */
export const text: Codec<string> = {
  parse: (data) => data?.toString() ?? '',
  format: (value) => value,
};

/** Data without conversion. */
export const bytes: Codec<Buffer | null, Uint8Array | string | null> = {
  parse: (data) => data,
  format: (value) => value,
};

export interface CheckedData {
  /** The path of the znode. */
  readonly path: string | undefined;
  readonly direction: 'read' | 'write';
}

/**
 * Returns what the schema makes of a value, or throws InvalidDataError; throws OptionError if it is
 * not a schema.
 */
export function checker<Out>(
  schema: StandardSchema<unknown, Out>,
): (value: unknown, of: CheckedData) => Out {
  const standard = isSchema(schema) ? schema['~standard'] : null;
  if (standard?.version !== 1 || typeof standard.validate !== 'function') {
    throw new OptionError('schema', 'is not a Standard Schema of version 1');
  }
  return (value, of) => {
    const result = standard.validate(value);
    if (result instanceof Promise) {
      result.catch(() => {}); // nobody awaits it
      throw new OptionError(
        'schema',
        'validates asynchronously; only synchronous schemas are supported',
      );
    }
    if (result.issues === undefined) return result.value;
    throw new InvalidDataError({ ...of, issues: result.issues.map(issueOf) });
  };
}

/** Some schemas are functions. */
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
    // The value has a cycle or a bigint.
    cause = error;
  }
  const issues = [{ message: 'the value cannot be written as JSON', at: '' }];
  throw new InvalidDataError({ path, direction: 'write', issues, cause });
}
