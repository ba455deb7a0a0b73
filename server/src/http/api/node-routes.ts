/**
 * Reads of znodes: facts, data, and children in pages.
 *
 * All of it is what this member has applied, as a client that is connected to it would see it,
 * with the caller's rights. A page of children costs as much in a directory of a hundred thousand
 * as in one of ten, once its names are in order; what the caller may not read of a child is null.
 */
import { formatZxid } from '@rookery/protocol';
import { HttpError } from '../http-error.js';
import type { HttpAnswer } from '../http-port.js';
import { type ApiCall, jsonAnswer } from './api-call.js';
import type { ApiMember } from './api-member.js';
import { flag, pathOf, wholeNumber } from './api-query.js';
import { aclFacts, mayReadNode, readableNode, rightsAt, statFacts } from './node-facts.js';

const PAGE_MAX = 1000;
const PAGE = 200;
/** Names of one page, as ZooKeeper would write them. */
const PAGE_BYTES_MAX = 256 << 10;

export class NodeReads {
  readonly #member: ApiMember;

  constructor(member: ApiMember) {
    this.#member = member;
  }

  readonly facts = ({ query, caller: { requester } }: ApiCall): HttpAnswer => {
    const { path, node, tree } = this.#find(query, requester);
    return jsonAnswer(
      {
        path,
        mode: tree.mode(node),
        ttlMs: tree.ttlMs(node) === 0 ? null : tree.ttlMs(node),
        stat: statFacts(tree.stat(node)),
        descendants: tree.descendantCount(node),
        subtreeBytes: tree.subtreeDataBytes(node),
        acl: aclFacts(tree, node, requester),
        may: rightsAt(tree, node, requester),
      },
      { headers: this.#headersOf(node) },
    );
  };

  readonly data = ({ query, caller: { requester } }: ApiCall): HttpAnswer => {
    const { node, tree } = this.#find(query, requester);
    const body = Uint8Array.from(tree.data(node) ?? []);
    // Whatever it is, no browser shall run it.
    const headers = {
      'content-security-policy': "default-src 'none'; sandbox",
      'content-disposition': 'attachment',
      ...this.#headersOf(node),
    };
    return { status: 200, type: 'application/octet-stream', body, headers };
  };

  readonly acl = ({ query, caller: { requester } }: ApiCall): HttpAnswer => {
    const { path, node, tree } = this.#find(query, requester);
    const headers = { ...this.#headersOf(node), etag: `"${tree.aversion(node)}"` };
    return jsonAnswer({ path, acl: aclFacts(tree, node, requester) }, { headers });
  };

  readonly children = ({ query, caller: { requester } }: ApiCall): HttpAnswer => {
    const { path, node, tree } = this.#find(query, requester);
    const limit = wholeNumber(query, 'limit', { min: 1, max: PAGE_MAX, otherwise: PAGE });
    const startAfter = query.get('after') ?? '';
    const page = tree.childPage(node, { startAfter, limit, bytesMax: PAGE_BYTES_MAX });
    const prefix = tree.pathPrefix(node);
    const facts = (name: string): object => {
      const child = tree.find(prefix + name);
      if (!mayReadNode(tree, child, requester)) return { name, mode: null, stat: null };
      return { name, mode: tree.mode(child), stat: statFacts(tree.stat(child)) };
    };
    const children = flag(query, 'stat') ? page.names.map(facts) : page.names;
    const next = page.more ? (page.names.at(-1) ?? null) : null;
    const { numChildren, cversion } = tree.stat(node);
    return jsonAnswer(
      { path, numChildren, cversion, children, next },
      { headers: this.#headersOf(node) },
    );
  };

  #find(query: URLSearchParams, requester: ApiCall['caller']['requester']) {
    requireServing(this.#member);
    const path = pathOf(query);
    const { state } = this.#member;
    return { path, node: readableNode(state, path, requester), tree: state.tree };
  }

  #headersOf(node: number): Readonly<Record<string, string>> {
    const { tree, lastZxid } = this.#member.state;
    return { etag: `"${tree.version(node)}"`, 'x-rookery-zxid': formatZxid(lastZxid) };
  }
}

/** What is not served to clients is not shown here either. Throws HttpError 503. */
export function requireServing(member: Pick<ApiMember, 'context'>): void {
  if (member.context().view.serving) return;
  throw new HttpError(503, 'This member serves nobody at the moment: it has no leader.', {
    'retry-after': '1',
  });
}
