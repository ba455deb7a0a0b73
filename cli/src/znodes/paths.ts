/** Returns whether a path is `top` or below it. */
export function isWithin(path: string, top: string): boolean {
  return top === '/' || path === top || path.startsWith(`${top}/`);
}
