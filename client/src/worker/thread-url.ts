/**
 * Where the module of the worker thread is: beside this one, unless a bundler has moved this one.
 */
import { existsSync } from 'node:fs';
import { OptionError } from '../errors.js';

const REMEDY =
  'in a bundled program give the URL of a bundle of @rookery/client/worker, ' +
  "such as worker: new URL('./thread.js', import.meta.url)";

/** Null without a worker; OptionError for a thread that is not there, which would fail for ever. */
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

/** Null where a bundler has left no address, as in CommonJS. */
function besideUs(): URL | null {
  const { url } = import.meta;
  return typeof url === 'string' ? new URL('./thread.js', url) : null;
}
