/**
 * Paths of znodes, and how their names are shown.
 *
 * A name may hold whatever UTF-8 has, such as line feeds, marks that turn the direction of writing,
 * or nothing visible. What would hide or disturb is shown as its code; what is sent is the name.
 */
export function parentOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash <= 0 ? '/' : path.slice(0, slash);
}

/** The last segment; `/` for the root. */
export function nameOf(path: string): string {
  return path === '/' ? '/' : path.slice(path.lastIndexOf('/') + 1);
}

/** A path as it was typed, without slashes at its end; '' for slashes only. */
export function withoutSlashes(typed: string): string {
  let end = typed.length;
  while (typed[end - 1] === '/') end -= 1;
  return typed.slice(0, end);
}

export function childOf(parent: string, name: string): string {
  return parent === '/' ? `/${name}` : `${parent}/${name}`;
}

/** The root and every znode above the path, and the path itself at the end. */
export function lineOf(path: string): readonly string[] {
  if (path === '/') return ['/'];
  const names = path.slice(1).split('/');
  return ['/', ...names.map((_, index) => `/${names.slice(0, index + 1).join('/')}`)];
}

/** Whether `path` is `root` or below it. */
export function isWithin(root: string, path: string): boolean {
  return path === root || path.startsWith(root === '/' ? '/' : `${root}/`);
}

/** Whether it is one of those that are always there, which nobody deletes or moves. */
export function isFixed(path: string): boolean {
  return path === '/' || path === '/zookeeper' || parentOf(path) === '/zookeeper';
}

/** The path below `from`, moved below `to`. */
export function rebased(path: string, from: string, to: string): string {
  if (path === from) return to;
  const rest = path.slice(from === '/' ? 0 : from.length);
  return to === '/' ? rest : `${to}${rest}`;
}

/** Says why a path is none, in a sentence; null for a good one. */
export function wrongPath(path: string): string | null {
  if (!path.startsWith('/')) return 'A path begins with a slash.';
  if (path === '/') return null;
  if (path.endsWith('/')) return 'A path does not end with a slash.';
  for (const name of path.slice(1).split('/')) {
    if (name === '') return 'A path has no two slashes in a row.';
    if (name === '.' || name === '..') return 'A path has no relative parts.';
  }
  return null;
}

// Controls, marks of direction, what has no glyph, and every space but the usual one.
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/gu;

/** A name or a path in which everything is visible, and on one line. */
export function shown(name: string): string {
  return name.replace(HIDDEN, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}
