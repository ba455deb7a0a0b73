/**
 * Asks for a page of the children of a znode, with their facts.
 */
import type { Api } from '../../api/api.js';
import type { ChildrenPage } from '../../api/types.js';

export interface PageOptions {
  /** The name behind which the page begins; '' for the first page. */
  readonly after: string;
  readonly limit: number;
  readonly signal: AbortSignal;
}

export function childrenPage(
  api: Pick<Api, 'get'>,
  path: string,
  { after, limit, signal }: PageOptions,
): Promise<ChildrenPage> {
  const query = { path, after: after === '' ? null : after, limit, stat: true };
  return api.get<ChildrenPage>('/children', query, signal);
}
