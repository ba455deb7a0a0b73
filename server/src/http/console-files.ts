/**
 * Serves the built files of `@rookery/console`: `/console/` on the admin port.
 *
 * They are the same for all users and hold no secret, so they need no password; the console gets
 * its data from `/api/v1`, which does. A file is read when it is first requested and kept, with its
 * compressed form, so that a client that takes nothing costs no memory, and a member whose console
 * is never opened keeps nothing. Only names that are in the directory are opened. Called by the
 * admin port and by `rookery console`.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { HttpAnswer, HttpRequest } from './http-port.js';
import { HttpError } from './http-port.js';

const CONSOLE = '/console';

/** All scripts and styles are files of the same origin, and no other page may show the console. */
const POLICY = [
  ...["default-src 'self'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:"],
  ...["object-src 'none'", "base-uri 'none'", "frame-ancestors 'none'", "form-action 'self'"],
].join('; ');

const TYPES: ReadonlyMap<string, string> = new Map([
  ['.html', 'text/html;charset=utf-8'],
  ['.js', 'text/javascript;charset=utf-8'],
  ['.css', 'text/css;charset=utf-8'],
  ['.json', 'application/json'],
  ['.webmanifest', 'application/manifest+json'],
  ['.svg', 'image/svg+xml'],
  ['.png', 'image/png'],
  ['.ico', 'image/x-icon'],
  ['.woff2', 'font/woff2'],
  ['.txt', 'text/plain;charset=utf-8'],
]);
/** Files of these kinds are compressed already. */
const COMPRESSED: ReadonlySet<string> = new Set(['.png', '.ico', '.woff2']);
const INDEX = 'index.html';
/** The folder whose files have the hash of their content in their names. */
const HASHED = 'assets/';
const NAMES_MAX = 500;
const FILE_BYTES_MAX = 4 << 20;
/** The bytes of all files that are kept, compressed or not. */
const KEPT_BYTES_MAX = 8 << 20;
/** How often the directory is looked at for a new build. */
const LOOK_MS = 1000;

interface ConsoleFile {
  readonly bytes: Uint8Array;
  /** Null if that would not make it smaller. */
  readonly compressed: Uint8Array | null;
}

export class ConsoleFiles {
  readonly #directory: string | null;
  readonly #nowMs: () => number;
  readonly #kept = new Map<string, Promise<ConsoleFile>>();
  #keptBytes = 0;
  #names: ReadonlySet<string> = new Set();
  /** What tells one build from another. */
  #build = '';
  #lookedMs = Number.NEGATIVE_INFINITY;

  /** `directory` is null where no console is installed; `nowMs` is monotonic. */
  constructor(directory: string | null, nowMs: () => number) {
    this.#directory = directory;
    this.#nowMs = nowMs;
  }

  /** Whether a path is the console's. */
  static has(path: string): boolean {
    return path === CONSOLE || path.startsWith(`${CONSOLE}/`);
  }

  /** The answer to a path that is the console's. Throws HttpError. */
  async answer({ method, path, headers }: HttpRequest): Promise<HttpAnswer> {
    if (method !== 'GET' && method !== 'HEAD') {
      throw new HttpError(405, `Expected GET or HEAD, got ${method}.`, { allow: 'GET, HEAD' });
    }
    if (path === CONSOLE) return toConsole();
    const name = path.slice(CONSOLE.length + 1) || INDEX;
    if (name === INDEX || !this.#names.has(name)) await this.#look();
    if (this.#names.size === 0) {
      throw new HttpError(404, 'The console is not installed here; npm run build makes it.');
    }
    if (!this.#names.has(name)) throw new HttpError(404, 'The console has no such file.');
    const { bytes, compressed } = await this.#file(name);
    const isTaken = compressed !== null && acceptsGzip(headers['accept-encoding']);
    return {
      status: 200,
      type: TYPES.get(extname(name)) ?? 'application/octet-stream',
      body: isTaken ? compressed : bytes,
      headers: {
        'cache-control': name.startsWith(HASHED)
          ? 'public, max-age=31536000, immutable'
          : 'no-cache',
        'content-security-policy': POLICY,
        'referrer-policy': 'no-referrer',
        vary: 'accept-encoding',
        ...(isTaken ? { 'content-encoding': 'gzip' } : {}),
      },
    };
  }

  /** Finds the files, and forgets those of an earlier build. */
  async #look(): Promise<void> {
    const directory = this.#directory;
    if (directory === null || this.#nowMs() - this.#lookedMs < LOOK_MS) return;
    this.#lookedMs = this.#nowMs();
    const names = await namesIn(directory);
    const index = await stat(join(directory, INDEX)).catch(() => null);
    const build = `${index?.mtimeMs} ${index?.size} ${names.join(' ')}`;
    if (build === this.#build) return;
    this.#build = build;
    this.#names = new Set(index === null ? [] : names);
    this.#forget();
  }

  async #file(name: string): Promise<ConsoleFile> {
    const kept = this.#kept.get(name);
    if (kept !== undefined) return await kept;
    const reading = readConsoleFile(join(this.#directory ?? '', name));
    this.#kept.set(name, reading);
    try {
      const { bytes, compressed } = await reading;
      const size = bytes.length + (compressed?.length ?? 0);
      if (this.#keptBytes + size > KEPT_BYTES_MAX) this.#forget();
      else if (this.#kept.get(name) === reading) this.#keptBytes += size;
      return { bytes, compressed };
    } catch (cause) {
      this.#kept.delete(name);
      throw cause;
    }
  }

  #forget(): void {
    this.#kept.clear();
    this.#keptBytes = 0;
  }
}

/** The directory of the built console; null where the package is missing. */
export function consoleDirectory(): string | null {
  try {
    const { resolve } = createRequire(import.meta.url);
    return join(dirname(resolve('@rookery/console/package.json')), 'dist/web');
  } catch {
    return null;
  }
}

/** Relative, so that it is right below any prefix. */
function toConsole(): HttpAnswer {
  const headers = { location: 'console/', 'cache-control': 'no-cache' };
  return { status: 308, type: 'text/plain', body: '', headers };
}

/** The names of files that a browser may be given, with the folder of hashed ones. */
async function namesIn(directory: string): Promise<readonly string[]> {
  const lists = await Promise.all(
    ['', HASHED].map(async (folder) => {
      const entries = await readdir(join(directory, folder), { withFileTypes: true }).catch(
        () => [],
      );
      return entries.filter((entry) => entry.isFile()).map(({ name }) => `${folder}${name}`);
    }),
  );
  const known = lists.flat().filter((name) => TYPES.has(extname(name)));
  return known.sort().slice(0, NAMES_MAX);
}

async function readConsoleFile(path: string): Promise<ConsoleFile> {
  const { size } = await stat(path);
  if (size > FILE_BYTES_MAX) throw new HttpError(500, 'A file of the console is too large.');
  const bytes = await readFile(path);
  if (COMPRESSED.has(extname(path))) return { bytes, compressed: null };
  const compressed = await promisify(gzip)(bytes);
  return { bytes, compressed: compressed.length < bytes.length ? compressed : null };
}

function acceptsGzip(header: string | string[] | undefined): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|\s|$))/.test(String(header ?? ''));
}
