/**
 * Opens a znode in the explorer.
 */
import { hrefOf } from '../router/route.js';
import { goTo } from '../router/use-route.js';

/** `replace` is for moving along the tree, which is no step of its own. */
export function openNode(path: string, options?: { readonly replace?: boolean }): void {
  goTo('node', { path }, options);
}

/** The address of a znode, for a link. */
export function nodeHref(path: string): string {
  return hrefOf('node', { path });
}
