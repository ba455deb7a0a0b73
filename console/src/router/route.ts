/**
 * Routes are in the hash, `#/node?path=/a/b`, so that a link works whatever path the console is
 * served below.
 */
export interface Route {
  /** The first segment, such as `node`; '' for none. */
  readonly page: string;
  readonly query: URLSearchParams;
}

export function parseRoute(hash: string): Route {
  const [, page = '', query = ''] = /^#?\/?([^?]*)\??(.*)$/s.exec(hash) ?? [];
  return { page, query: new URLSearchParams(query) };
}

/** The hash of a route; parameters that are empty are left out. Slashes stay readable. */
export function hrefOf(page: string, query: Readonly<Record<string, string | null>> = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === null || value === ''
      ? []
      : [`${name}=${encodeURIComponent(value).replaceAll('%2F', '/')}`],
  );
  return `#/${page}${pairs.length === 0 ? '' : `?${pairs.join('&')}`}`;
}
