/**
 * Stores the paths that have a quota, and finds the one for which a path counts: the longest
 * prefix.
 *
 * They are stored by segments, like directories, so a path is read once from its beginning, however
 * deep it is, and only as far as there are quotas. It is as large as the tree of quotas. Called by
 * Quotas.
 */
interface Directory {
  hasQuota: boolean;
  readonly below: Map<string, Directory>;
}

export class QuotaPrefixes {
  readonly #root: Directory = newDirectory();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(prefix: string): void {
    let at = this.#root;
    for (const name of prefix.slice(1).split('/')) {
      let next = at.below.get(name);
      if (next === undefined) {
        next = newDirectory();
        at.below.set(name, next);
      }
      at = next;
    }
    if (!at.hasQuota) this.#count += 1;
    at.hasQuota = true;
  }

  delete(prefix: string): void {
    const names = prefix.slice(1).split('/');
    const passed = [this.#root];
    for (const name of names) {
      const next = passed.at(-1)?.below.get(name);
      if (next === undefined) return;
      passed.push(next);
    }
    const last = passed.at(-1);
    if (last === undefined || !last.hasQuota) return;
    last.hasQuota = false;
    this.#count -= 1;
    for (let depth = names.length; depth > 0; depth--) {
      const directory = passed[depth];
      if (directory === undefined || directory.hasQuota || directory.below.size > 0) return;
      passed[depth - 1]?.below.delete(names[depth - 1] ?? '');
    }
  }

  clear(): void {
    this.#root.below.clear();
    this.#root.hasQuota = false;
    this.#count = 0;
  }

  /** The longest one that is the path itself or above it; null if there is none. */
  governing(path: string): string | null {
    let directory = this.#root;
    let longest = 0;
    for (let start = 1; start <= path.length; ) {
      const slash = path.indexOf('/', start);
      const end = slash === -1 ? path.length : slash;
      const next = directory.below.get(path.slice(start, end));
      if (next === undefined) break;
      if (next.hasQuota) longest = end;
      directory = next;
      start = end + 1;
    }
    return longest === 0 ? null : path.slice(0, longest);
  }
}

function newDirectory(): Directory {
  return { hasQuota: false, below: new Map() };
}
