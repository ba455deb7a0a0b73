/**
 * A create that creates the missing parents first, and again when somebody removes them before the
 * child is there. Creates the child once at most; an ambiguous error is always about the child.
 */
import { CreateFlag, isSequentialFlag, parentOf } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import type { Acl, Created, CreateOptions, Data } from '../api/values.js';
import { type ParentMode, withParent } from './ensure-path.js';
import { type Absolute, absolute } from './namespaced-client.js';
import { createOptions, operationOptions } from './options.js';

export interface CreateRecursiveOptions extends CreateOptions {
  /** What missing parents are created as; 'persistent' by default. */
  readonly parents?: ParentMode | undefined;
  /** Of parents that are created; open by default. */
  readonly parentAcl?: readonly Acl[] | undefined;
}

/** As `client.create`, but NoNodeError comes only when parents vanish again and again. */
export async function createRecursive(
  client: Client,
  path: string,
  data: Data = null,
  options: CreateRecursiveOptions = {},
): Promise<Created> {
  const { parents = 'persistent', parentAcl, mode } = options;
  const child = createOptions(options);
  const acl = parentAcl === undefined ? {} : { acl: parentAcl };
  const above = { ...operationOptions(options), ...acl, mode: parents };
  const isNumbered = mode !== undefined && isSequentialFlag(CreateFlag[mode]);
  const parent = path === '/' && !isNumbered ? aboveRoot(client) : { client, path: parentOf(path) };
  return await withParent(parent, above, () => client.create(path, data, child));
}

/** With missing parents when the options say as what, else as `client.create`. */
export function createAsAsked(
  client: Client,
  path: string,
  data: Data,
  options: CreateRecursiveOptions,
): Promise<Created> {
  return options.parents === undefined
    ? client.create(path, data, createOptions(options))
    : createRecursive(client, path, data, options);
}

/** The root of a namespace has a parent, which its own view cannot name. */
function aboveRoot(client: Client): Absolute {
  const root = absolute(client, '/');
  return { client: root.client, path: parentOf(root.path) };
}
