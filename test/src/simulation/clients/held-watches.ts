/**
 * The watches that a client believes to be set, and sets again on its next connection.
 *
 * Only replies and events change it, in their order, as in Apache ZooKeeper's Java client: a watch
 * whose reply was lost never existed. One-shot watches are removed by their event.
 */
import { ErrorCode, EventType } from '@rookery/protocol';
import type { Operation, RemovedWatches, Result } from '../contract/history.js';

export interface WatchLists {
  readonly data: readonly string[];
  readonly exist: readonly string[];
  readonly child: readonly string[];
  readonly persistent: readonly string[];
  readonly recursive: readonly string[];
}

const DATA = 1;
/** On a path that did not exist. */
const EXIST = 2;
const CHILD = 4;
const PERSISTENT = 8;
const RECURSIVE = 16;

const REMOVED: Readonly<Record<RemovedWatches, number>> = {
  data: DATA | EXIST,
  children: CHILD,
  persistent: PERSISTENT,
  recursive: RECURSIVE,
  any: DATA | EXIST | CHILD | PERSISTENT | RECURSIVE,
};

export class HeldWatches {
  readonly #held = new Map<string, number>();

  get isEmpty(): boolean {
    return this.#held.size === 0;
  }

  clear(): void {
    this.#held.clear();
  }

  onReply(operation: Operation, result: Result): void {
    switch (operation.kind) {
      case 'get':
        if (operation.watch && result.error === ErrorCode.ok) this.#add(operation.path, DATA);
        return;
      case 'exists':
        if (!operation.watch) return;
        if (result.error === ErrorCode.ok) this.#add(operation.path, DATA);
        if (result.error === ErrorCode.noNode) this.#add(operation.path, EXIST);
        return;
      case 'children':
        if (operation.watch && result.error === ErrorCode.ok) this.#add(operation.path, CHILD);
        return;
      case 'addWatch':
        if (result.error !== ErrorCode.ok) return;
        this.#add(operation.path, operation.mode === 'persistent' ? PERSISTENT : RECURSIVE);
        return;
      case 'removeWatches':
        if (result.error === ErrorCode.ok) this.#remove(operation.path, REMOVED[operation.type]);
        return;
      default:
        return;
    }
  }

  onEvent(type: number, path: string): void {
    this.#remove(path, firedBy(type));
  }

  #remove(path: string, removed: number): void {
    const bits = this.#held.get(path);
    if (bits === undefined) return;
    const left = bits & ~removed;
    if (left === 0) this.#held.delete(path);
    else this.#held.set(path, left);
  }

  lists(): WatchLists {
    return {
      data: this.#pathsOf(DATA),
      exist: this.#pathsOf(EXIST),
      child: this.#pathsOf(CHILD),
      persistent: this.#pathsOf(PERSISTENT),
      recursive: this.#pathsOf(RECURSIVE),
    };
  }

  #pathsOf(bit: number): readonly string[] {
    const paths: string[] = [];
    for (const [path, bits] of this.#held) if ((bits & bit) !== 0) paths.push(path);
    return paths;
  }

  #add(path: string, bit: number): void {
    this.#held.set(path, (this.#held.get(path) ?? 0) | bit);
  }
}

function firedBy(type: number): number {
  if (type === EventType.childrenChanged) return CHILD;
  return type === EventType.deleted ? DATA | EXIST | CHILD : DATA | EXIST;
}
