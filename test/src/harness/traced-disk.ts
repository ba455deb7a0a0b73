/**
 * A directory as a loss of power may leave it, at any moment of what a process did to it
 * (disk-trace.ts).
 *
 * Bytes are durable once their file was synced behind the write, names once their directory was.
 * What is not durable may be there or not, and of bytes a part: the kinds of images below are those
 * that file systems really leave.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DiskOperation } from './disk-trace.js';

/** What becomes of what is not durable. */
export const LOSSES = {
  nothing: 'nothing is lost, as when the process is killed',
  bytes: 'every name is there, but no byte that was not synced',
  half: 'of the bytes that were not synced every second half is missing',
  zeros: 'the bytes that were not synced are zeros',
  everything: 'neither bytes nor names that were not synced are there',
} as const;
export type Loss = keyof typeof LOSSES;
export const ALL_LOSSES = Object.keys(LOSSES) as readonly Loss[];

/** The files by their paths below the directory; null for a directory. */
export type Image = ReadonlyMap<string, Buffer | null>;

interface File {
  readonly kind: 'file';
  bytes: Buffer;
  durable: Buffer;
}
interface Directory {
  readonly kind: 'directory';
  readonly names: Map<string, Entry>;
  durable: ReadonlyMap<string, Entry>;
}
type Entry = File | Directory;

export class TracedDisk {
  readonly #path: string;
  readonly #root = newDirectory();

  /** `before` is what the directory held, durably, before the trace began. */
  constructor(path: string, before: Image = new Map()) {
    this.#path = path;
    for (const [name, bytes] of before) {
      const entry = bytes === null ? newDirectory() : newFile(bytes);
      const { directory, name: last } = this.#place(join(path, name));
      directory.names.set(last, entry);
      directory.durable = new Map(directory.names);
    }
  }

  apply(operation: DiskOperation): void {
    const { path } = operation;
    if (path === this.#path && operation.kind !== 'sync') return;
    const { directory, name } = this.#place(path);
    const entry = path === this.#path ? this.#root : directory.names.get(name);
    switch (operation.kind) {
      case 'mkdir':
        directory.names.set(name, newDirectory());
        return;
      case 'create':
        if (entry === undefined) directory.names.set(name, newFile(Buffer.alloc(0)));
        return;
      case 'remove':
        directory.names.delete(name);
        return;
      case 'rename': {
        const to = this.#place(operation.to);
        directory.names.delete(name);
        if (entry !== undefined) to.directory.names.set(to.name, entry);
        return;
      }
      case 'write':
        if (entry?.kind === 'file') {
          entry.bytes = written(entry.bytes, operation.at, operation.bytes);
        }
        return;
      case 'resize':
        if (entry?.kind === 'file') entry.bytes = resized(entry.bytes, operation.size);
        return;
      case 'sync':
        if (entry?.kind === 'file') entry.durable = entry.bytes;
        else if (entry?.kind === 'directory') entry.durable = new Map(entry.names);
        return;
    }
  }

  image(loss: Loss): Image {
    const image = new Map<string, Buffer | null>();
    const add = (directory: Directory, prefix: string) => {
      const names = loss === 'everything' ? directory.durable : directory.names;
      for (const [name, entry] of [...names].sort(([a], [b]) => (a < b ? -1 : 1))) {
        const path = prefix + name;
        image.set(path, entry.kind === 'directory' ? null : remains(entry, loss));
        if (entry.kind === 'directory') add(entry, `${path}/`);
      }
    };
    add(this.#root, '');
    return image;
  }

  /** The directory of a path, and its name there. */
  #place(path: string): { readonly directory: Directory; readonly name: string } {
    const names = path.slice(this.#path.length + 1).split('/');
    let directory = this.#root;
    for (const name of names.slice(0, -1)) {
      const next = directory.names.get(name);
      if (next?.kind !== 'directory') throw new Error(`${path} has no directory`);
      directory = next;
    }
    return { directory, name: names.at(-1) ?? '' };
  }
}

function newFile(bytes: Buffer): File {
  return { kind: 'file', bytes, durable: bytes };
}

function newDirectory(): Directory {
  return { kind: 'directory', names: new Map(), durable: new Map() };
}

export interface ImagesOptions {
  /** The directory, as in the paths of the operations. */
  readonly root: string;
  readonly before: Image;
  readonly losses: readonly Loss[];
}

/** The images behind each operation, without those that were there before. */
export function* imagesOf(
  operations: readonly DiskOperation[],
  { root, before, losses }: ImagesOptions,
): Generator<{ readonly title: string; readonly image: Image }> {
  const disk = new TracedDisk(root, before);
  const known = new Set<string>();
  const hashes = new WeakMap<Buffer, string>();
  for (const [index, operation] of operations.entries()) {
    disk.apply(operation);
    for (const loss of losses) {
      const image = disk.image(loss);
      const key = keyOf(image, hashes);
      if (known.has(key)) continue;
      known.add(key);
      const last = `${operation.kind} ${operation.path.slice(root.length + 1)}`;
      yield { title: `behind operation ${index + 1} (${last}), lost: ${loss}`, image };
    }
  }
}

export function writeImage(image: Image, directory: string): void {
  mkdirSync(directory, { recursive: true });
  for (const [name, bytes] of image) {
    if (bytes === null) mkdirSync(join(directory, name), { recursive: true });
    else writeFileSync(join(directory, name), bytes);
  }
}

function remains({ bytes, durable }: File, loss: Loss): Buffer {
  if (bytes === durable) return bytes;
  switch (loss) {
    case 'nothing':
      return bytes;
    case 'bytes':
    case 'everything':
      return durable;
    case 'zeros':
      return resized(durable, bytes.length);
    case 'half': {
      const whole = resized(durable, bytes.length);
      const from = whole.findIndex((byte, at) => byte !== bytes[at]);
      const changed = from < 0 ? bytes.length : from;
      const middle = changed + Math.ceil((bytes.length - changed) / 2);
      return Buffer.concat([bytes.subarray(0, middle), durable.subarray(middle)]);
    }
  }
}

function written(bytes: Buffer, at: number, added: Buffer): Buffer {
  const whole = resized(bytes, Math.max(bytes.length, at + added.length));
  added.copy(whole, at);
  return whole;
}

/** A copy of that size, with zeros at its end where it is longer. */
function resized(bytes: Buffer, size: number): Buffer {
  const copy = Buffer.alloc(size);
  bytes.copy(copy, 0, 0, Math.min(size, bytes.length));
  return copy;
}

function keyOf(image: Image, hashes: WeakMap<Buffer, string>): string {
  const parts: string[] = [];
  for (const [name, bytes] of image) {
    if (bytes === null) parts.push(`${name}/`);
    else parts.push(`${name} ${hashOf(bytes, hashes)}`);
  }
  return parts.join('\n');
}

/** Nobody changes the bytes of a file: each change makes new ones. */
function hashOf(bytes: Buffer, hashes: WeakMap<Buffer, string>): string {
  const known = hashes.get(bytes) ?? createHash('sha256').update(bytes).digest('hex');
  hashes.set(bytes, known);
  return known;
}
