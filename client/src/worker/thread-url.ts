/**
 * Finds the module of the worker thread. It is beside this one, unless a bundler has moved this
 * one.
 */
import { existsSync } from 'node:fs';
import { OptionError } from '../api/errors.js';

const REMEDY =
  "in a bundle, name one of @rookery/client/worker: new URL('./thread.js', import.meta.url)";

/**
 * Returns null to use no worker. Throws OptionError if the module does not exist, because each
 * attempt to connect would fail.
 */
export function workerOf(given: boolean | URL): URL | null {
  if (given === false) return null;
  const url = given === true ? besideUs() : given;
  if (url !== null && isThere(url)) return url;
  throw new OptionError('worker', `has no thread at ${url?.href ?? 'an unknown place'}; ${REMEDY}`);
}

/** Node starts threads from files and from data URLs. */
function isThere(url: URL): boolean {
  return url.protocol === 'data:' || (url.protocol === 'file:' && existsSync(url));
}

/** Null if a bundler has left no address of this module, as for CommonJS. */
function besideUs(): URL | null {
  const { url } = import.meta;
  return typeof url === 'string' ? new URL('./thread.js', url) : null;
}
