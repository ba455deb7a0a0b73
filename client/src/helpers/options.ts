/**
 * Select a part of the options, for helpers that pass it on. What is absent stays absent.
 */

import type { CreateOptions, OperationOptions } from '../api/values.js';
import { checkCallOptions } from '../calls/call-options.js';

export function operationOptions(options: OperationOptions): OperationOptions {
  checkCallOptions(options);
  const { signal, timeoutMs, session } = options;
  return {
    ...(signal === undefined ? {} : { signal }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(session === undefined ? {} : { session }),
  };
}

export function createOptions(options: CreateOptions): CreateOptions {
  const { mode, acl, ttlMs } = options;
  return {
    ...operationOptions(options),
    ...(mode === undefined ? {} : { mode }),
    ...(acl === undefined ? {} : { acl }),
    ...(ttlMs === undefined ? {} : { ttlMs }),
  };
}
