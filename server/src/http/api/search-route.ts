/**
 * Search of the whole tree, or of a part of it: names that contain a text or match a pattern,
 * znodes of a session, large ones. Found znodes are sent as they are found, a line of JSON each,
 * and a last line says how far the search went.
 */
import type { Requester } from '../../pipeline/access.js';
import type { Tree } from '../../state/tree.js';
import { HttpError } from '../http-error.js';
import type { HttpAnswer } from '../http-port.js';
import type { ApiCall } from './api-call.js';
import type { ApiMember } from './api-member.js';
import { oneOf, pathOrRoot, sessionIn, wholeNumber } from './api-query.js';
import { matchesGlob } from './glob.js';
import { mayReadNode, statFacts } from './node-facts.js';
import { requireServing } from './node-routes.js';
import { badRequest } from './problem.js';
import { TreeScan } from './tree-scan.js';

/** The scans that may run at a time, because each takes a part of every turn while it lasts. */
export const SCANS_MAX = 2;
const FOUND = { min: 1, max: 10_000, otherwise: 1000 };
const TEXT_CHARACTERS_MAX = 1000;
const MODES = ['persistent', 'ephemeral', 'container', 'ttl', 'any'] as const;

/** Bounds how many scans run at a time; search and recipes share it. */
export class Scans {
  #underWay = 0;

  /** The lines as an answer. Throws HttpError 429 while others are under way. */
  answer(lines: AsyncIterable<object>): HttpAnswer {
    if (this.#underWay >= SCANS_MAX) {
      throw new HttpError(429, 'Others search the tree at the moment.', { 'retry-after': '1' });
    }
    this.#underWay += 1;
    const close = async (): Promise<void> => {
      this.#underWay -= 1;
    };
    return { status: 200, type: 'application/x-ndjson', body: bytesOf(lines), close };
  }
}

async function* bytesOf(lines: AsyncIterable<object>): AsyncGenerator<Uint8Array> {
  for await (const line of lines) yield Buffer.from(`${JSON.stringify(line)}\n`);
}

export function searchRoute(member: ApiMember, scans: Scans) {
  return ({ query, request: { signal }, caller: { requester } }: ApiCall): HttpAnswer => {
    requireServing(member);
    const isWanted = filterOf(query, requester);
    const limit = wholeNumber(query, 'limit', FOUND);
    const scan = new TreeScan(member, { path: pathOrRoot(query), requester, signal });
    const facts = (tree: Tree, node: number): object => {
      const stat = mayReadNode(tree, node, requester) ? statFacts(tree.stat(node)) : null;
      return { path: tree.path(node), mode: stat === null ? null : tree.mode(node), stat };
    };
    return scans.answer(found(scan.slices(isWanted, facts, limit)));
  };
}

async function* found(slices: ReturnType<TreeScan['slices']>): AsyncGenerator<object> {
  for (;;) {
    const { value, done } = await slices.next();
    if (done === true) {
      yield { done: true, ...value };
      return;
    }
    yield* value as readonly object[];
  }
}

function filterOf(
  query: URLSearchParams,
  requester: Requester,
): (tree: Tree, node: number) => boolean {
  const text = textOf(query, 'match');
  const glob = textOf(query, 'glob');
  const session = sessionIn(query.get('session'), 'session');
  const minBytes = wholeNumber(query, 'minBytes', { otherwise: 0 });
  const mode = oneOf(query, 'mode', MODES, 'any');
  const lower = text.toLowerCase();
  const isWholePath = glob.includes('/');
  // A caller who may not read a znode learns only its name, from its parent.
  const isOfStat = session !== null || minBytes > 0 || mode !== 'any';
  return (tree, node) => {
    if (session !== null && tree.owner(node) !== session) return false;
    if (tree.dataLength(node) < minBytes) return false;
    if (mode !== 'any' && tree.mode(node) !== mode) return false;
    if (lower !== '' && !tree.name(node).toLowerCase().includes(lower)) return false;
    if (isOfStat && !mayReadNode(tree, node, requester)) return false;
    return glob === '' || matchesGlob(glob, isWholePath ? tree.path(node) : tree.name(node));
  };
}

function textOf(query: URLSearchParams, name: string): string {
  const text = query.get(name) ?? '';
  if (text.length <= TEXT_CHARACTERS_MAX) return text;
  throw badRequest(`${name}: expected at most ${TEXT_CHARACTERS_MAX} characters.`);
}
