/**
 * Znode paths: which ones are legal, and their parts.
 *
 * Code units are UTF-16, as in Java, so both refuse the same paths. The functions that split a path
 * never throw, because they are also called for paths that are found to be illegal later.
 */

const SLASH = 0x2f;
const DOT = 0x2e;
const WHOLE = { sequential: false };

/**
 * Returns why `path` cannot name a znode, or null if it can. With `sequential` a suffix will be
 * appended, so `/queue/` and `/` are legal, too.
 */
export function validatePath(
  path: string,
  options: { readonly sequential: boolean } = WHOLE,
): string | null {
  const full = options.sequential ? `${path}1` : path;
  if (path.length === 0) return 'the path is empty';
  if (full.charCodeAt(0) !== SLASH) return 'the path does not start with /';
  if (full.length === 1) return null;
  if (full.charCodeAt(full.length - 1) === SLASH) return 'the path ends with /';
  let segmentStart = 1;
  for (let index = 1; index <= full.length; index++) {
    const code = index < full.length ? full.charCodeAt(index) : SLASH;
    if (code === SLASH) {
      const reason = segmentProblem(full, segmentStart, index);
      if (reason !== null) return reason;
      segmentStart = index + 1;
    } else if (isForbidden(code)) {
      return `the path has the character 0x${code.toString(16)} at ${index}`;
    }
  }
  return null;
}

/** Returns `/` for a child of the root, for the root itself and for a text without a slash. */
export function parentOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash <= 0 ? '/' : path.slice(0, slash);
}

/** Returns the last segment; '' for the root. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Returns the number of segments; 0 for the root. */
export function depthOf(path: string): number {
  let depth = path === '/' ? 0 : 1;
  for (let at = path.indexOf('/', 1); at !== -1; at = path.indexOf('/', at + 1)) depth++;
  return depth;
}

export function joinPath(parent: string, name: string): string {
  return parent === '/' ? `/${name}` : `${parent}/${name}`;
}

function segmentProblem(path: string, start: number, end: number): string | null {
  if (end === start) return `the path has an empty segment at ${start}`;
  const length = end - start;
  if (length > 2 || path.charCodeAt(start) !== DOT) return null;
  if (length === 2 && path.charCodeAt(start + 1) !== DOT) return null;
  return `the path has a relative segment at ${start}`;
}

/** Control characters, surrogates with the private use area, and specials. */
function isForbidden(code: number): boolean {
  if (code < 0x7f) return code <= 0x1f;
  return code <= 0x9f || (code >= 0xd800 && code <= 0xf8ff) || code >= 0xfff0;
}
