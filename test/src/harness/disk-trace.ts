/**
 * What a process does to the files below one directory, as strace saw it: in order, and with the
 * moments at which bytes and names became durable.
 *
 * Calls of several threads are in the order in which they ended. A write to a file that was opened
 * with O_DSYNC is a write and then a sync of it. Used by traced-disk.ts.
 */
import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Product, productNamed } from './product.js';
import { until } from './wait.js';

export type DiskOperation =
  | { readonly kind: 'mkdir' | 'create' | 'remove'; readonly path: string }
  | { readonly kind: 'rename'; readonly path: string; readonly to: string }
  | { readonly kind: 'write'; readonly path: string; readonly at: number; readonly bytes: Buffer }
  | { readonly kind: 'resize'; readonly path: string; readonly size: number }
  | { readonly kind: 'sync'; readonly path: string };

const CALLS = [
  ...['openat', 'close', 'mkdir', 'rmdir', 'unlink', 'rename', 'write', 'pwrite64', 'writev'],
  ...['pwritev', 'ftruncate', 'fallocate', 'fsync', 'fdatasync', 'lseek', 'dup'],
];
const STRING_BYTES_MAX = 2 << 20;
const TRACER_DEADLINE_MS = 60_000;
/** The ends of all threads fit into it. */
const END_BYTES = 10_000;

/** Whether this machine can trace processes. */
export async function canTrace(): Promise<boolean> {
  const trial = spawn('strace', ['-qq', '-o', '/dev/null', 'true'], { stdio: 'ignore' });
  return await new Promise((resolve) => {
    trial.once('error', () => resolve(false));
    trial.once('exit', (code) => resolve(code === 0));
  });
}

/**
 * Rookery with members that are traced. The member keeps its process id, so signals reach it and
 * not strace.
 */
export function tracedProduct(): Product {
  const rookery = productNamed('rookery');
  return {
    ...rookery,
    prepare(layout) {
      const { file, args, environment } = rookery.prepare(layout);
      const calls = ['-e', `trace=${CALLS.join(',')}`];
      const output = ['-xx', '-s', String(STRING_BYTES_MAX), '-o', traceOf(layout)];
      return {
        file: 'strace',
        args: ['-D', '-f', '-q', ...calls, ...output, file, ...args],
        // Nothing would be seen of calls by io_uring.
        environment: { ...environment, UV_USE_IO_URING: '0' },
      };
    },
  };
}

/**
 * What a member of a traced ensemble has done to its files since its start; it must have ended, and
 * `pid` is the id that it had. Paths begin with that of the directory.
 */
export async function takeTrace(
  ensemble: { readonly directory: string },
  { id, pid }: { readonly id: number; readonly pid: number },
): Promise<readonly DiskOperation[]> {
  const file = traceOf({ id, directory: ensemble.directory });
  const last = new RegExp(`^${pid} +\\+\\+\\+ `, 'm');
  await until('strace has written everything', TRACER_DEADLINE_MS, () => {
    return last.test(endOf(file)) || undefined;
  });
  const reader = new TraceReader(join(ensemble.directory, 'data'));
  for (const line of readFileSync(file, 'latin1').split('\n')) reader.line(line);
  rmSync(file);
  return reader.operations;
}

function traceOf({ id, directory }: { readonly id: number; readonly directory: string }): string {
  return join(directory, `trace-${id}`);
}

function endOf(file: string): string {
  return readFileSync(file, 'latin1').slice(-END_BYTES);
}

interface OpenFile {
  path: string;
  at: number;
  readonly isDurable: boolean;
}

class TraceReader {
  readonly operations: DiskOperation[] = [];
  readonly #directory: string;
  readonly #known = new Set<string>();
  readonly #open = new Map<number, OpenFile>();
  /** The beginning of a call that has not ended yet, by thread. */
  readonly #begun = new Map<string, string>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  line(line: string): void {
    const blank = line.indexOf(' ');
    const thread = line.slice(0, blank);
    const text = line.slice(blank).trimStart();
    if (text.endsWith('<unfinished ...>')) {
      this.#begun.set(thread, text.slice(0, text.lastIndexOf('<')));
      return;
    }
    if (!text.startsWith('<...')) return this.#call(text);
    const rest = text.slice(text.indexOf('>') + 1);
    this.#call((this.#begun.get(thread) ?? '') + rest);
  }

  /** A whole call, as in `mkdir("/a", 0777) = 0`. */
  #call(text: string): void {
    const open = text.indexOf('(');
    const end = text.lastIndexOf(') ');
    const result = Number.parseInt(text.slice(text.indexOf('=', end) + 1), 10);
    if (open < 0 || end < 0 || !(result >= 0)) return;
    const [name, args] = [text.slice(0, open), text.slice(open + 1, end)];
    const strings = stringsIn(args);
    const numbers = args.split(',').map((part) => Number.parseInt(part, 10));
    this.#take(name, { args, strings, numbers, result });
  }

  #take(name: string, { args, strings, numbers, result }: Call): void {
    const path = (strings[0] ?? '').toString();
    const file = this.#open.get(numbers[0] ?? -1);
    if (name === 'openat') return this.#onOpen(path, args, result);
    if (name === 'mkdir') return this.#named('mkdir', path);
    if (name === 'rmdir' || name === 'unlink') return this.#named('remove', path);
    if (name === 'rename') return this.#onRename(path, (strings[1] ?? '').toString());
    if (file === undefined) return;
    const { path: at } = file;
    if (name === 'close') this.#open.delete(numbers[0] ?? -1);
    else if (name === 'dup') this.#open.set(result, file);
    else if (name === 'lseek') file.at = result;
    else if (name === 'fsync' || name === 'fdatasync') this.#add({ kind: 'sync', path: at });
    else if (name === 'ftruncate') this.#add({ kind: 'resize', path: at, size: numbers[1] ?? 0 });
    else if (name.includes('write')) {
      const isPlaced = name.startsWith('p');
      const offset = isPlaced ? (numbers.at(-1) ?? 0) : file.at;
      const bytes = Buffer.concat(strings).subarray(0, result);
      this.#add({ kind: 'write', path: at, at: offset, bytes });
      if (!isPlaced) file.at += result;
      if (file.isDurable) this.#add({ kind: 'sync', path: at });
    }
  }

  #onOpen(path: string, args: string, descriptor: number): void {
    if (!path.startsWith(this.#directory)) return;
    this.#open.set(descriptor, { path, at: 0, isDurable: /O_D?SYNC/.test(args) });
    if (!args.includes('O_CREAT')) return;
    if (!this.#known.has(path)) this.#named('create', path);
    else if (args.includes('O_TRUNC')) this.#add({ kind: 'resize', path, size: 0 });
  }

  #onRename(path: string, to: string): void {
    if (!path.startsWith(this.#directory)) return;
    for (const known of [...this.#known]) {
      if (known !== path && !known.startsWith(`${path}/`)) continue;
      this.#known.delete(known);
      this.#known.add(to + known.slice(path.length));
    }
    for (const file of this.#open.values()) {
      if (file.path === path || file.path.startsWith(`${path}/`)) {
        file.path = to + file.path.slice(path.length);
      }
    }
    this.operations.push({ kind: 'rename', path, to });
  }

  #named(kind: 'mkdir' | 'create' | 'remove', path: string): void {
    if (!path.startsWith(this.#directory)) return;
    if (kind === 'remove') this.#known.delete(path);
    else this.#known.add(path);
    this.operations.push({ kind, path });
  }

  #add(operation: DiskOperation): void {
    this.operations.push(operation);
  }
}

interface Call {
  readonly args: string;
  readonly strings: readonly Buffer[];
  readonly numbers: readonly number[];
  readonly result: number;
}

/** The strings of a call, which strace writes as `"\x2f\x61"`. */
function stringsIn(args: string): readonly Buffer[] {
  const found: Buffer[] = [];
  const parts = args.split('"');
  for (let index = 1; index < parts.length; index += 2) {
    found.push(Buffer.from((parts[index] ?? '').replaceAll('\\x', ''), 'hex'));
  }
  return found;
}
