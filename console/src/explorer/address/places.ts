/**
 * Places that the person comes back to: bookmarks, and what was open lately. They are kept in the
 * browser, and hold paths alone.
 */
const BOOKMARKS = 'rookery-console-bookmarks';
const VISITS = 'rookery-console-visits';
const VISITS_MAX = 30;
const BOOKMARKS_MAX = 200;

export function bookmarks(): readonly string[] {
  return stored(localStore(), BOOKMARKS);
}

export function visits(): readonly string[] {
  return stored(localStore(), VISITS);
}

/** Returns whether the path is a bookmark now. */
export function toggleBookmark(path: string): boolean {
  const before = bookmarks();
  const isMarked = before.includes(path);
  const after = isMarked ? before.filter((one) => one !== path) : [path, ...before];
  keep(BOOKMARKS, after.slice(0, BOOKMARKS_MAX));
  return !isMarked;
}

export function rememberVisit(path: string): void {
  keep(VISITS, withVisit(visits(), path));
}

/** The newest first, each once. */
export function withVisit(before: readonly string[], path: string): readonly string[] {
  return [path, ...before.filter((one) => one !== path)].slice(0, VISITS_MAX);
}

function localStore(): Storage | null {
  try {
    return localStorage;
  } catch {
    // The storage may be switched off.
    return null;
  }
}

function stored(storage: Storage | null, key: string): readonly string[] {
  try {
    const value: unknown = JSON.parse(storage?.getItem(key) ?? '[]');
    return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
  } catch {
    // Another version may have written something else.
    return [];
  }
}

function keep(key: string, paths: readonly string[]): void {
  try {
    localStore()?.setItem(key, JSON.stringify(paths));
  } catch {
    // Where the storage is full, nothing is remembered.
  }
}
