/**
 * Contexts: named ensembles, each with its connect string, its credentials and the files of its
 * certificates, saved for the user.
 *
 * Each is a JSON file of its own in `$XDG_CONFIG_HOME/rookery/context` (by default below
 * `~/.config`), with mode 0600 because of the credentials; one that others may read is refused. The
 * name of the selected one is in `context.txt` beside them.
 */
import { mkdirSync, readdirSync, readlinkSync, realpathSync, rmSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { errorMessage } from '@rookery/protocol';
import {
  DuplicateKeysError,
  OperatorError,
  parseStrictJson,
  readFileUpTo,
  replaceOwnFile,
  SMALL_FILE_BYTES_MAX,
} from '@rookery/server';
import { z } from 'zod';
import type { TlsPaths } from './client-proofs.js';

const NAME = /^[\w][\w.-]{0,63}$/;
const SAVED = z.strictObject({
  connect: z.string().min(1),
  /** Each as `scheme:auth`. */
  auth: z.array(z.string()).default([]),
  /** Absolute paths; absent for connections without TLS. */
  tls: z.strictObject({ ca: z.string(), cert: z.string(), key: z.string() }).partial().optional(),
});

interface Context {
  readonly connect: string;
  readonly auth: readonly string[];
  readonly tls?: TlsPaths | undefined;
}

export class Contexts {
  readonly #directory: string;

  constructor(environment: NodeJS.ProcessEnv) {
    const configured = environment['XDG_CONFIG_HOME'] ?? '';
    const home = configured === '' ? join(environment['HOME'] ?? homedir(), '.config') : configured;
    this.#directory = join(home, 'rookery');
  }

  names(): readonly string[] {
    const folder = join(this.#directory, 'context');
    const names = readOrNull(() => readdirSync(folder)) ?? [];
    return names
      .filter((name) => name.endsWith('.json'))
      .map((name) => name.slice(0, -'.json'.length))
      .filter((name) => NAME.test(name))
      .sort();
  }

  /** Null if none is selected. */
  selected(): string | null {
    const text =
      readOrNull(() => readFileUpTo(this.#selectedFile, SMALL_FILE_BYTES_MAX).toString())?.trim() ??
      '';
    return text === '' ? null : text;
  }

  /** Throws OperatorError if there is no such context, or it cannot be used. */
  load(name: string): Context {
    const file = this.#file(name);
    const text = readOrNull(() => readFileUpTo(file, SMALL_FILE_BYTES_MAX).toString());
    if (text === null) {
      throw new OperatorError(`There is no context ${name}; "rookery context ls" lists them.`);
    }
    let json: unknown;
    try {
      json = parseStrictJson(text);
    } catch (cause) {
      if (cause instanceof DuplicateKeysError) {
        throw new OperatorError(`The context file ${file} is refused: ${cause.message}.`, {
          cause,
        });
      }
      throw new OperatorError(`The context file ${file} is not JSON: save the context again.`, {
        cause,
      });
    }
    const { success, data } = SAVED.safeParse(json);
    if (!success) {
      throw new OperatorError(`The context file ${file} has no context: save the context again.`);
    }
    if (data.auth.length > 0 && (statSync(file).mode & 0o077) !== 0) {
      throw new OperatorError(`Others may read the credentials in ${file}: chmod 600 it.`);
    }
    return data;
  }

  save(name: string, context: Context): void {
    replace(this.#file(name), `${JSON.stringify(context, null, 2)}\n`);
  }

  select(name: string): void {
    this.load(name);
    replace(this.#selectedFile, `${name}\n`);
  }

  /** Of a symbolic link it removes only the link, as `rm` does. */
  remove(name: string): void {
    this.load(name);
    rmSync(this.#file(name));
    if (this.selected() === name) rmSync(this.#selectedFile);
  }

  get #selectedFile(): string {
    return join(this.#directory, 'context.txt');
  }

  #file(name: string): string {
    if (NAME.test(name)) return join(this.#directory, 'context', `${name}.json`);
    throw new OperatorError(
      `${JSON.stringify(name)} cannot name a context: take letters, digits, ".", "_" and "-".`,
    );
  }
}

/**
 * On a full disk the former file stays. Only this user can read the new one. A symbolic link
 * stays, and the file to which it leads is replaced: it may be in a folder of all settings of the
 * user.
 */
function replace(path: string, text: string): void {
  try {
    const file = behindLinks(path);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    replaceOwnFile(file, text);
  } catch (cause) {
    throw new OperatorError(`${path} cannot be written: ${errorMessage(cause)}`, { cause });
  }
}

/** Where symbolic links lead in the end, whether a file is there yet or not. */
function behindLinks(path: string): string {
  const existing = readOrNull(() => realpathSync(path));
  if (existing !== null) return existing;
  const link = linkOrNull(path);
  return link === null ? path : behindLinks(resolve(realpathSync(dirname(path)), link));
}

/** Returns null unless a symbolic link is there. */
function linkOrNull(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    // Whether a file can be there turns out when it is written.
    return null;
  }
}

function readOrNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
