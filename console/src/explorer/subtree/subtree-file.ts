/**
 * A part of the tree as a file: JSON that people can read and programs can write.
 *
 * Paths are relative to the exported znode, which is `""`. Data that is UTF-8 is `text`, other data
 * is `base64`. Ephemerals are not in it: they belong to a session. What is read is checked in every
 * part before anything is done with it.
 */
import type { AclEntry } from '../../api/types.js';
import { base64Of, bytesOfBase64 } from '../../ui/bytes.js';
import { textOf } from '../data/detect.js';
import { BYTES_MAX } from '../edit/draft.js';
import { rebased, wrongPath } from '../paths.js';
import { NODES_MAX } from './walk.js';

const FORMAT = 'rookery-subtree';
const VERSION = 1;
/** The largest file that is read; beyond it a browser is the wrong tool. */
export const FILE_BYTES_MAX = 100_000_000;
const MODES = ['persistent', 'container', 'ttl'] as const;

export interface FileNode {
  /** `''` for the exported znode itself; otherwise it begins with a slash. */
  readonly path: string;
  readonly mode: (typeof MODES)[number];
  readonly ttlMs: number | null;
  readonly data: Uint8Array<ArrayBuffer>;
  /** Null where it was not to be seen. */
  readonly acl: readonly AclEntry[] | null;
}

/** The path of a znode of a file that is imported to `to`. */
export function placeOf({ path }: Pick<FileNode, 'path'>, to: string): string {
  return path === '' ? to : rebased(path, '/', to);
}

export function fileText(path: string, nodes: readonly FileNode[], exportedAt: string): string {
  const listed = nodes.map(({ path: relative, mode, ttlMs, data, acl }) => {
    const text = textOf(data);
    const isText = text !== null && new TextEncoder().encode(text).length === data.length;
    return {
      path: relative,
      ...(mode === 'persistent' ? {} : { mode }),
      ...(ttlMs === null ? {} : { ttlMs }),
      ...(data.length === 0 ? {} : isText ? { text } : { base64: base64Of(data) }),
      ...(acl === null ? {} : { acl }),
    };
  });
  const head = { format: FORMAT, version: VERSION, path, exportedAt };
  return `${JSON.stringify({ ...head, nodes: listed }, null, 1)}\n`;
}

export type ReadFile =
  | { readonly kind: 'nodes'; readonly path: string; readonly nodes: readonly FileNode[] }
  | { readonly kind: 'wrong'; readonly sentence: string };

/** The znodes of a file, parents before children, or a sentence that says what is wrong. */
export function readFileText(text: string): ReadFile {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The message of the parser is about characters, and says nothing to a person.
    return { kind: 'wrong', sentence: 'This file is not JSON.' };
  }
  if (!isObject(value) || value['format'] !== FORMAT) {
    return { kind: 'wrong', sentence: 'This file was not exported by the console.' };
  }
  if (value['version'] !== VERSION) {
    return { kind: 'wrong', sentence: 'This file is of a later version of the console.' };
  }
  const { nodes, path } = value as { nodes: unknown; path: unknown };
  if (!Array.isArray(nodes) || nodes.length === 0 || nodes.length > NODES_MAX) {
    return { kind: 'wrong', sentence: `This file has no znodes, or more than ${NODES_MAX}.` };
  }
  const read: FileNode[] = [];
  const seen = new Set<string>();
  for (const [index, one] of nodes.entries()) {
    const node = nodeOf(one);
    if (typeof node === 'string') {
      return { kind: 'wrong', sentence: `Znode ${index + 1} of the file: ${node}` };
    }
    if (seen.has(node.path)) {
      return { kind: 'wrong', sentence: `Znode ${index + 1} of the file is there twice.` };
    }
    seen.add(node.path);
    read.push(node);
  }
  read.sort((one, other) => depthOf(one.path) - depthOf(other.path));
  const orphan = read.find(({ path: own }) => own !== '' && !seen.has(own.replace(/\/[^/]*$/, '')));
  if (orphan !== undefined) {
    return { kind: 'wrong', sentence: `The parent of ${orphan.path} is not in the file.` };
  }
  return { kind: 'nodes', path: typeof path === 'string' ? path : '', nodes: read };
}

function nodeOf(value: unknown): FileNode | string {
  if (!isObject(value)) return 'it is no object.';
  const { path, text, base64, acl } = value as Record<string, unknown>;
  if (typeof path !== 'string' || (path !== '' && wrongPath(path) !== null) || path === '/') {
    return 'its path is wrong.';
  }
  const mode = MODES.find((one) => one === (value['mode'] ?? 'persistent'));
  if (mode === undefined) return 'its mode is wrong.';
  const ttlMs = value['ttlMs'] ?? null;
  const isTtl = typeof ttlMs === 'number' && Number.isInteger(ttlMs) && ttlMs > 0;
  if ((mode === 'ttl') !== isTtl) return 'its ttlMs is wrong.';
  const data = dataOf(text, base64);
  if (data === null || data.length > BYTES_MAX) return 'its data is wrong, or too large.';
  if (acl !== undefined && !isAcl(acl)) return 'its ACL is wrong.';
  return { path, mode, ttlMs: isTtl ? ttlMs : null, data, acl: acl === undefined ? null : acl };
}

function dataOf(text: unknown, base64: unknown): Uint8Array<ArrayBuffer> | null {
  if (text === undefined && base64 === undefined) return new Uint8Array();
  if (typeof text === 'string' && base64 === undefined) return new TextEncoder().encode(text);
  return typeof base64 === 'string' && text === undefined ? bytesOfBase64(base64) : null;
}

function isAcl(value: unknown): value is readonly AclEntry[] {
  if (!Array.isArray(value) || value.length === 0) return false;
  return value.every((entry) => {
    if (!isObject(entry)) return false;
    const { scheme, id, perms } = entry as Record<string, unknown>;
    const isText = typeof scheme === 'string' && typeof id === 'string';
    return isText && typeof perms === 'string' && /^[cdrwa]{1,5}$/.test(perms);
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function depthOf(path: string): number {
  return path.split('/').length;
}
