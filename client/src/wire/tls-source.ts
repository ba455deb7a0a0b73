/**
 * What the connections of a client prove and check by TLS: material that the application gives, or
 * files, which are read again for each connection.
 *
 * What cannot be used never comes to a connection: it is refused where the application gives it.
 * Files that cannot be used later, as while somebody writes them, are reported with their names,
 * and connections go on with what was used before, so no session ends because a certificate is half
 * there. Reads synchronously, because the files are small and connections are rare.
 */
import { X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type ConnectionOptions, createSecureContext } from 'node:tls';
import { errorMessage } from '@rookery/protocol';
import { OptionError } from '../api/errors.js';
import type { Log } from '../api/logger.js';
import type { TlsOptions } from '../api/options.js';

export interface TlsSourceOptions {
  /** Whether the options are handed to another thread, which takes no functions. */
  readonly isForThread: boolean;
  readonly log: Log;
}

/** The options that name files, and Node's options for what is in them. */
const MATERIAL_OF = { caFile: 'ca', certFile: 'cert', keyFile: 'key', pkcs12File: 'pfx' } as const;
type FileOption = keyof typeof MATERIAL_OF;
type Contents = Partial<Record<(typeof MATERIAL_OF)[FileOption], Buffer>>;
const FILE_OPTIONS: readonly FileOption[] = ['caFile', 'certFile', 'keyFile', 'pkcs12File'];
/** Far above any chain of certificates or list of authorities. */
const FILE_BYTES_MAX = 1 << 20;
const PEM_BEGIN = '-----BEGIN ';

/** What the application has given last. */
interface Given {
  readonly options: ConnectionOptions;
  readonly paths: Readonly<Partial<Record<FileOption, string>>>;
}

export class TlsSource {
  readonly #isForThread: boolean;
  readonly #log: Log;
  /** Null for plain TCP. */
  #given: Given | null = null;
  #contents: Contents = {};
  #usable: ConnectionOptions = {};
  /** Why the files could not be used last time, or null. */
  #problem: string | null = null;

  /** Throws OptionError as `update` does. */
  constructor(tls: TlsOptions | boolean, { isForThread, log }: TlsSourceOptions) {
    this.#isForThread = isForThread;
    this.#log = log;
    this.update(tls);
  }

  /** Throws OptionError, and keeps what it had, if TLS cannot use what it is given. */
  update(tls: TlsOptions | boolean): void {
    const given = tls === false ? null : givenOf(tls === true ? {} : tls, this.#isForThread);
    const contents = given === null ? {} : contentsOf(given);
    const usable = given === null ? {} : usableOf(given, contents);
    this.#given = given;
    this.#contents = contents;
    this.#usable = usable;
    this.#problem = null;
  }

  /** The options of a connection that is made now; null for plain TCP. */
  forDial(): ConnectionOptions | null {
    if (this.#given === null) return null;
    try {
      this.#readAgain(this.#given);
      this.#problem = null;
    } catch (error) {
      this.#onProblem(error);
    }
    return this.#usable;
  }

  #readAgain(given: Given): void {
    const contents = contentsOf(given);
    if (isSame(contents, this.#contents)) return;
    this.#usable = usableOf(given, contents);
    this.#contents = contents;
    const files = Object.values(given.paths);
    this.#log.info('tls.reloaded', 'the files of TLS have changed and are used', { files });
  }

  /** It is told once, because there may be many connections until the files are mended. */
  #onProblem(err: unknown): void {
    const problem = errorMessage(err);
    if (problem === this.#problem) return;
    this.#problem = problem;
    const message = `the files of TLS cannot be used, those read before are: ${problem}`;
    this.#log.warn('tls.not_reloaded', message, { err });
  }
}

function givenOf(tls: TlsOptions, isForThread: boolean): Given {
  if (typeof tls !== 'object' || tls === null) {
    throw new OptionError('tls', `is of a wrong type: ${tls === null ? 'null' : typeof tls}`);
  }
  const { caFile, certFile, keyFile, pkcs12File, ...options } = tls;
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new OptionError('tls', 'has certFile and keyFile together or neither');
  }
  const paths: Partial<Record<FileOption, string>> = {};
  for (const [name, path] of Object.entries({ caFile, certFile, keyFile, pkcs12File })) {
    const option = FILE_OPTIONS.find((known) => known === name);
    if (option === undefined || path === undefined) continue;
    if (typeof path !== 'string') throw new OptionError('tls', `has a ${option} that is no path`);
    for (const other of [MATERIAL_OF[option], 'secureContext'] as const) {
      if (options[other] === undefined) continue;
      throw new OptionError('tls', `has ${option} or ${other}, not both`);
    }
    paths[option] = resolve(path);
  }
  if (!isForThread) return { options, paths };
  try {
    return { options: structuredClone(options), paths };
  } catch (cause) {
    throw new OptionError('tls', 'cannot be handed to the worker thread', { cause });
  }
}

function contentsOf({ paths }: Given): Contents {
  const contents: Contents = {};
  for (const option of FILE_OPTIONS) {
    const path = paths[option];
    if (path !== undefined) contents[MATERIAL_OF[option]] = contentOf(path);
  }
  return contents;
}

function contentOf(path: string): Buffer {
  let content: Buffer;
  try {
    const stats = statSync(path);
    // A named pipe would be waited for until somebody writes to it.
    if (!stats.isFile()) throw new Error('it is not a file');
    if (stats.size > FILE_BYTES_MAX) throw new Error(`it has more than ${FILE_BYTES_MAX} bytes`);
    content = readFileSync(path);
  } catch (cause) {
    throw new OptionError('tls', `names ${path}, which cannot be read: ${errorMessage(cause)}`, {
      cause,
    });
  }
  if (content.length === 0) throw new OptionError('tls', `names ${path}, which is empty`);
  return content;
}

/** Node says at the first connection only what it cannot use, and ignores broken authorities. */
function usableOf({ options, paths }: Given, contents: Contents): ConnectionOptions {
  if (contents.ca !== undefined) checkCertificates(contents.ca, paths.caFile);
  if (contents.cert !== undefined) checkCertificates(contents.cert, paths.certFile);
  const usable = { ...options, ...contents };
  try {
    if (options.secureContext === undefined) createSecureContext(usable);
  } catch (cause) {
    const { certFile, keyFile, pkcs12File } = paths;
    const files = [certFile, keyFile, pkcs12File].filter((path) => path !== undefined);
    const what = files.length === 0 ? 'what' : `${files.join(' and ')}, which`;
    const problem = `${files.length === 0 ? 'holds' : 'names'} ${what} cannot be used`;
    throw new OptionError('tls', `${problem}: ${reasonOf(cause)}`, { cause });
  }
  return usable;
}

/** Throws unless each block of the file is a whole certificate; text between blocks is ignored. */
function checkCertificates(content: Buffer, path: string | undefined): void {
  const [, ...blocks] = content.toString('latin1').split(PEM_BEGIN);
  try {
    // The key of a certificate may be in the same file.
    const certificates = blocks.filter((block) => !/^[A-Z ]{0,30}PRIVATE KEY-/.test(block));
    if (certificates.length === 0) throw new Error('it has no certificate in PEM');
    for (const block of certificates) new X509Certificate(`${PEM_BEGIN}${block}`);
  } catch (cause) {
    const problem = `names ${path}, which is not whole or no certificate`;
    throw new OptionError('tls', `${problem}: ${reasonOf(cause)}`, { cause });
  }
}

function reasonOf(error: unknown): string {
  const text = errorMessage(error);
  return /key values mismatch/i.test(text) ? 'they do not belong together' : text;
}

function isSame(some: Contents, others: Contents): boolean {
  return Object.values(MATERIAL_OF).every((name) => {
    const [one, other] = [some[name], others[name]];
    return one === undefined || other === undefined ? one === other : one.equals(other);
  });
}
