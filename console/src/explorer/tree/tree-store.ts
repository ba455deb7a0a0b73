/**
 * Loads the tree as it is opened and scrolled: pages of children, one request at a time for each
 * directory, and never a request for a child.
 *
 * React subscribes to it; `version` changes with every change. A directory that is read again keeps
 * its rows until all of the new ones are there.
 */
import type { Api } from '../../api/api.js';
import { isAborted } from '../../api/problem.js';
import type { ChildFacts, ChildrenPage } from '../../api/types.js';
import { childrenPage } from '../children/children-page.js';
import { lineOf, nameOf, parentOf } from '../paths.js';
import { type Directory, indexOfName, TreeModel } from './tree-model.js';

const FIRST_PAGE = 200;
const PAGE = 1_000;
/** Children that are looked through to show where a znode is; then the tree stays as it is. */
const REVEAL_MAX = 20_000;
/** A directory with more loaded children is not read again by itself. */
const REFRESH_MAX = 10_000;

export class TreeStore {
  readonly model = new TreeModel();
  readonly #api: Api;
  readonly #listeners = new Set<() => void>();
  readonly #loading = new Map<string, Promise<void>>();
  /** How many children of each directory are wanted. */
  readonly #wanted = new Map<string, number>();
  readonly #end = new AbortController();
  #version = 0;

  constructor(api: Api) {
    this.#api = api;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly version = (): number => this.#version;

  dispose(): void {
    this.#end.abort();
  }

  /** Opens a directory whose parent is open, and loads its first page. */
  async open(path: string): Promise<void> {
    const directory = this.model.open(path);
    this.#changed();
    if (directory !== null) await this.need(path, 0);
  }

  close(path: string): void {
    this.model.close(path);
    this.#changed();
  }

  /** Loads a directory up to and with the child of this place. */
  async need(path: string, index: number): Promise<void> {
    this.#wanted.set(path, Math.max(this.#wanted.get(path) ?? 0, index + 1));
    const underWay = this.#loading.get(path);
    if (underWay !== undefined) return await underWay;
    const loading = this.#load(path).finally(() => this.#loading.delete(path));
    this.#loading.set(path, loading);
    await loading;
  }

  /** Asks again for what could not be loaded. */
  async retry(path: string): Promise<void> {
    const directory = this.model.find(path);
    if (directory === null) return;
    directory.problem = null;
    this.#changed();
    await this.need(path, directory.entries.length);
  }

  /**
   * Reads again what is loaded of a directory, after its list has changed. With `unasked` a large
   * directory is left as it is.
   */
  async refresh(path: string, { unasked = false } = {}): Promise<void> {
    const directory = this.model.find(path);
    if (directory === null) return;
    const wanted = directory.entries.length;
    if (unasked && wanted > REFRESH_MAX) return;
    await this.#loading.get(path);
    const entries: ChildFacts[] = [];
    let page: ChildrenPage;
    let after = '';
    try {
      do {
        page = await this.#page(path, after, entries.length === 0 ? FIRST_PAGE : PAGE);
        entries.push(...page.children);
        after = page.next ?? '';
      } while (page.next !== null && entries.length < wanted);
    } catch (error) {
      if (!isAborted(error)) this.#failed(directory, error);
      return;
    }
    this.model.replace(directory, entries, page);
    this.#changed();
  }

  /** Opens everything above a path and loads until its row is there, within a bound. */
  async reveal(path: string): Promise<void> {
    const line = lineOf(path);
    for (const [index, parent] of line.slice(0, -1).entries()) {
      await this.open(parent);
      const directory = this.model.find(parent);
      const child = line[index + 1] ?? path;
      if (directory === null || !(await this.#reach(directory, nameOf(child)))) return;
    }
  }

  /** After a znode was made, changed or deleted by this console. */
  async changed(path: string): Promise<void> {
    await this.refresh(parentOf(path));
    await this.refresh(path);
  }

  async #reach(directory: Directory, name: string): Promise<boolean> {
    for (;;) {
      if (indexOfName(directory.entries, name) !== -1) return true;
      const isPast = (directory.entries.at(-1)?.name ?? '') > name;
      if (isPast || directory.next === null || directory.problem !== null) return false;
      if (directory.entries.length >= REVEAL_MAX) return false;
      await this.need(directory.path, directory.entries.length);
    }
  }

  async #load(path: string): Promise<void> {
    for (;;) {
      const directory = this.model.find(path);
      if (directory === null || directory.next === null || directory.problem !== null) return;
      const { entries, next } = directory;
      if (entries.length >= (this.#wanted.get(path) ?? 0)) return;
      try {
        const page = await this.#page(path, next, entries.length === 0 ? FIRST_PAGE : PAGE);
        // It was read again, or closed, in the meantime.
        if (directory.entries !== entries || this.model.find(path) !== directory) continue;
        this.model.append(directory, page);
        this.#changed();
      } catch (error) {
        if (isAborted(error)) return;
        this.#failed(directory, error);
      }
    }
  }

  #page(path: string, after: string, limit: number): Promise<ChildrenPage> {
    return childrenPage(this.#api, path, { after, limit, signal: this.#end.signal });
  }

  #failed(directory: Directory, error: unknown): void {
    directory.problem = error;
    this.#changed();
  }

  #changed(): void {
    this.#version += 1;
    for (const listener of this.#listeners) listener();
  }
}
