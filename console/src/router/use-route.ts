/**
 * The route of the page as React sees it, and the way to another one.
 */
import { useMemo, useSyncExternalStore } from 'react';
import { hrefOf, parseRoute, type Route } from './route.js';

export function useRoute(): Route {
  const hash = useSyncExternalStore(subscribe, () => location.hash);
  return useMemo(() => parseRoute(hash), [hash]);
}

/** `replace` leaves no entry behind for the browser's way back. */
export function goTo(
  page: string,
  query: Readonly<Record<string, string | null>> = {},
  { replace = false }: { readonly replace?: boolean } = {},
): void {
  const href = hrefOf(page, query);
  if (href === location.hash) return;
  if (!replace) {
    location.hash = href;
    return;
  }
  history.replaceState(null, '', href);
  window.dispatchEvent(new HashChangeEvent('hashchange'));
}

function subscribe(onChange: () => void): () => void {
  window.addEventListener('hashchange', onChange);
  return () => window.removeEventListener('hashchange', onChange);
}
