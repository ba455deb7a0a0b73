/**
 * A create that first creates missing parents, and does so again if somebody removes them before
 * the child exists. It creates the child at most once, so an ambiguous error always concerns the
 * child.
 */
import { CreateFlag, isSequentialFlag, parentOf } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import type { Acl, Created, CreateOptions, Data } from '../api/values.js';
import { type ParentMode, withParent } from './ensure-path.js';
import { type Absolute, absolute } from './namespaced-client.js';
import { createOptions, operationOptions } from './options.js';

export interface CreateRecursiveOptions extends CreateOptions {
  /** The mode of parents that are created; 'persistent' by default. */
  readonly parents?: ParentMode | undefined;
  /** The ACL of parents that are created; OPEN_ACL by default. */
  readonly parentAcl?: readonly Acl[] | undefined;
}

/** Like `client.create`, but rejects with NoNodeError only if parents disappear again and again. */
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

/** Creates missing parents if the options name a mode for them; otherwise it is `client.create`. */
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

/** The root of a namespace has a parent that its own view cannot name. */
function aboveRoot(client: Client): Absolute {
  const root = absolute(client, '/');
  return { client: root.client, path: parentOf(root.path) };
}
