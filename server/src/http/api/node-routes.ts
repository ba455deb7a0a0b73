/**
 * Reads of znodes: facts, data, and children in pages. What the caller may not read of a child is
 * null.
 */
import type { HttpAnswer } from '../http-port.js';
import { type ApiCall, jsonAnswer } from './api-call.js';
import { flag, pathOf, wholeNumber } from './api-query.js';
import type { NodeSource, Versioned } from './node-source.js';

const PAGE = { min: 1, max: 1000, otherwise: 200 };

export class NodeReads {
  readonly #source: NodeSource;

  constructor(source: NodeSource) {
    this.#source = source;
  }

  readonly facts = async ({ query, caller }: ApiCall): Promise<HttpAnswer> => {
    const found = await this.#source.facts(pathOf(query), caller);
    return jsonAnswer(found.value, { headers: headersOf(found) });
  };

  readonly data = async ({ query, caller }: ApiCall): Promise<HttpAnswer> => {
    const found = await this.#source.data(pathOf(query), caller);
    // Whatever it is, no browser shall run it.
    const headers = {
      'content-security-policy': "default-src 'none'; sandbox",
      'content-disposition': 'attachment',
      ...headersOf(found),
    };
    return { status: 200, type: 'application/octet-stream', body: found.value, headers };
  };

  readonly acl = async ({ query, caller }: ApiCall): Promise<HttpAnswer> => {
    const path = pathOf(query);
    const found = await this.#source.acl(path, caller);
    const { acl, may } = found.value;
    return jsonAnswer({ path, acl, may }, { headers: headersOf(found) });
  };

  readonly children = async ({ query, caller }: ApiCall): Promise<HttpAnswer> => {
    const path = pathOf(query);
    const limit = wholeNumber(query, 'limit', PAGE);
    const asked = { after: query.get('after') ?? '', limit, withStat: flag(query, 'stat') };
    const found = await this.#source.children(path, asked, caller);
    const { names, children, hasMore, numChildren, cversion } = found.value;
    const next = hasMore ? (names.at(-1) ?? null) : null;
    return jsonAnswer(
      { path, numChildren, cversion, children: children ?? names, next },
      { headers: headersOf(found) },
    );
  };
}

function headersOf({ version, zxid }: Versioned<unknown>): Readonly<Record<string, string>> {
  return { etag: `"${version}"`, ...(zxid === null ? {} : { 'x-rookery-zxid': zxid }) };
}
