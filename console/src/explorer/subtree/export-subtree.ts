/**
 * Reads a part of the tree for a file, some requests at a time.
 */
import type { Api } from '../../api/api.js';
import type { NodeFacts } from '../../api/types.js';
import { readData } from '../node/use-node.js';
import { childOf, rebased } from '../paths.js';
import { forEach } from './at-once.js';
import { type FileNode, fileText } from './subtree-file.js';
import { type Walk, walk } from './walk.js';

const BYTES_MAX = 64_000_000;

export interface ExportOptions {
  /** The children of the root that are taken with what is below them; null for all of them. */
  readonly children: readonly string[] | null;
  readonly signal: AbortSignal;
  onProgress(done: number, total: number): void;
}

export interface Exported {
  readonly text: string;
  /** The znodes that are not in it, nor what is below them: the person may not read them. */
  readonly unreadable: number;
}

/** The text of the file, or a sentence that says why there is none. */
export async function exportedText(
  api: Api,
  root: string,
  { children, signal, onProgress }: ExportOptions,
): Promise<Exported | string> {
  const { nodes, isCut } =
    children === null
      ? await walk(api, [root], { signal })
      : await walkChildren(api, root, { children, signal });
  const readable = nodes.filter(({ stat }) => stat !== null);
  const kept = readable.filter(({ mode }) => mode !== 'ephemeral');
  const bytes = kept.reduce((sum, { stat }) => sum + (stat?.dataLength ?? 0), 0);
  if (isCut || bytes > BYTES_MAX) {
    return 'This is too much for a browser: `rookery cp` and backups take more.';
  }
  const read: FileNode[] = [];
  let done = 0;
  await forEach(kept, async ({ path }, index) => {
    read[index] = await fileNode(api, { path, root, signal });
    done += 1;
    onProgress(done, kept.length);
  });
  const text = fileText(root, read, new Date().toISOString());
  return { text, unreadable: nodes.length - readable.length };
}

/** A file has the parent of everything that is in it, so the root is in this one, too. */
async function walkChildren(
  api: Api,
  root: string,
  { children, signal }: { readonly children: readonly string[]; readonly signal: AbortSignal },
): Promise<Walk> {
  const { mode, stat } = await api.get<NodeFacts>('/node', { path: root }, signal);
  const paths = children.map((name) => childOf(root, name));
  const { nodes, isCut } = await walk(api, paths, { signal });
  return { nodes: [{ path: root, mode, stat }, ...nodes], isCut };
}

async function fileNode(
  api: Api,
  {
    path,
    root,
    signal,
  }: { readonly path: string; readonly root: string; readonly signal: AbortSignal },
): Promise<FileNode> {
  const [{ mode, ttlMs, acl }, { bytes }] = await Promise.all([
    api.get<NodeFacts>('/node', { path }, signal),
    readData(api, path, signal),
  ]);
  const relative = path === root ? '' : rebased(path, root, '/');
  const kind = mode === 'container' || mode === 'ttl' ? mode : 'persistent';
  return { path: relative, mode: kind, ttlMs: kind === 'ttl' ? ttlMs : null, data: bytes, acl };
}
