/**
 * `rookery inspect du SOURCE` shows how many znodes and bytes each subtree has, the largest first,
 * as `du` does for directories.
 *
 * Exit code 0; an error is thrown for a mistake of the caller, or damage.
 */
import { parentOf } from '@rookery/protocol';
import { isWithin } from '../znodes/paths.js';
import { print } from './print.js';
import { readState, shownPath } from './state-source.js';

interface DuCommand {
  readonly source: string;
  /** Only this subtree. */
  readonly path: string;
  /** How many levels below `path` are shown separately. */
  readonly depth: number;
  readonly json: boolean;
}

interface Subtree {
  readonly path: string;
  /** Including everything below it, and itself. */
  znodes: number;
  dataBytes: number;
}

export async function runDu(command: DuCommand): Promise<number> {
  const usage = new Usage(command);
  await readState(command.source, (node) => usage.add(shownPath(node), node.data?.length ?? 0));
  const subtrees = usage.largestFirst();
  if (command.json) await print(`${JSON.stringify(subtrees, null, 2)}\n`);
  else for (const subtree of subtrees) await print(lineOf(subtree));
  return 0;
}

/** Memory grows with the number of subtrees shown, not with the number of znodes. */
class Usage {
  readonly #top: string;
  readonly #levels: number;
  readonly #subtrees = new Map<string, Subtree>();

  constructor({ path, depth }: DuCommand) {
    this.#top = path;
    this.#levels = levelOf(path) + depth;
  }

  add(path: string, bytes: number): void {
    if (!isWithin(path, this.#top)) return;
    for (let level = levelOf(path), at = path; ; level--, at = parentOf(at)) {
      if (level <= this.#levels) this.#count(at, bytes);
      if (at === this.#top) return;
    }
  }

  largestFirst(): readonly Subtree[] {
    return [...this.#subtrees.values()].sort(
      (a, b) => b.dataBytes - a.dataBytes || b.znodes - a.znodes || (a.path < b.path ? -1 : 1),
    );
  }

  #count(path: string, bytes: number): void {
    const subtree = this.#subtrees.get(path) ?? { path, znodes: 0, dataBytes: 0 };
    subtree.znodes += 1;
    subtree.dataBytes += bytes;
    this.#subtrees.set(path, subtree);
  }
}

function levelOf(path: string): number {
  return path === '/' ? 0 : path.split('/').length - 1;
}

function lineOf({ path, znodes, dataBytes }: Subtree): string {
  const bytes = `${String(dataBytes).padStart(14)} bytes`;
  const count = `${String(znodes).padStart(10)} ${znodes === 1 ? 'znode ' : 'znodes'}`;
  return `${bytes} ${count}  ${JSON.stringify(path)}\n`;
}
