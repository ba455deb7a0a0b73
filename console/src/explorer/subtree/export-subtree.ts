/**
 * Reads a part of the tree for a file, some requests at a time.
 */
import type { Api } from '../../api/api.js';
import type { NodeFacts } from '../../api/types.js';
import { readData } from '../node/use-node.js';
import { rebased } from '../paths.js';
import { type FileNode, fileText } from './subtree-file.js';
import { walk } from './walk.js';

/** A browser makes no more connections to a server at a time. */
const AT_ONCE = 4;
const BYTES_MAX = 64_000_000;

/** The text of the file, or a sentence that says why there is none. */
export async function exportedText(
  api: Api,
  root: string,
  options: { readonly signal: AbortSignal; onProgress(done: number, total: number): void },
): Promise<{ readonly text: string } | string> {
  const { signal, onProgress } = options;
  const { nodes, isCut } = await walk(api, root, { signal });
  const kept = nodes.filter(({ mode, stat }) => stat !== null && mode !== 'ephemeral');
  const bytes = kept.reduce((sum, { stat }) => sum + (stat?.dataLength ?? 0), 0);
  if (isCut || bytes > BYTES_MAX) {
    return 'This is too much for a browser: `rookery cp` and backups take more.';
  }
  const read: FileNode[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next; index < kept.length; index = next) {
      next += 1;
      const path = kept[index]?.path ?? '';
      read[index] = await fileNode(api, { path, root, signal });
      onProgress(index + 1, kept.length);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { text: fileText(root, read, new Date().toISOString()) };
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
