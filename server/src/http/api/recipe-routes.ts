/**
 * Recipes in the tree: `/recipe` tells of one directory, `/recipes` finds all of them and sends a
 * line of JSON for each as it is found.
 */

import { NO_NODE, type Tree } from '../../state/tree.js';
import { HttpError } from '../http-error.js';
import type { HttpAnswer } from '../http-port.js';
import { type ApiCall, jsonAnswer } from './api-call.js';
import type { ApiMember } from './api-member.js';
import { pathOf, pathOrRoot, wholeNumber } from './api-query.js';
import { clientsHere } from './clients-here.js';
import { readableNode } from './node-facts.js';
import { requireServing } from './node-routes.js';
import type { OtherMembers } from './other-members.js';
import { type ContenderFacts, recipeAt } from './recipe-facts.js';
import { isTelling, partOf } from './recipe-names.js';
import type { Scans } from './search-route.js';
import { TreeScan } from './tree-scan.js';

const FOUND = { min: 1, max: 10_000, otherwise: 1000 };
/** Directories whose children were seen, in one search. */
const PARENTS_MAX = 100_000;

export function recipeRoute(member: ApiMember, others: OtherMembers) {
  return async ({ query, caller: { requester } }: ApiCall): Promise<HttpAnswer> => {
    requireServing(member);
    const path = pathOf(query);
    const node = readableNode(member.state, path, requester);
    const recipe = recipeAt({ member, clients: clientsHere(member), requester }, node);
    if (recipe === null) {
      throw new HttpError(404, 'No recipe that is known has its znodes there.', {}, { path });
    }
    const all = [...recipe.holders, ...recipe.waiters];
    const sessions = all.filter(({ session, address }) => session !== null && address === null);
    const found = await others.clients(sessions.map(({ session }) => Number(session)));
    const located = (one: ContenderFacts) => {
      const client = one.session === null ? undefined : found.get(Number(one.session));
      return client === undefined ? one : { ...one, ...client };
    };
    const holders = recipe.holders.map(located);
    return jsonAnswer({ ...recipe, holders, waiters: recipe.waiters.map(located) });
  };
}

export function recipesRoute(member: ApiMember, scans: Scans) {
  return (call: ApiCall): HttpAnswer => {
    requireServing(member);
    const { query, request, caller } = call;
    const { signal } = request;
    const { requester } = caller;
    const limit = wholeNumber(query, 'limit', FOUND);
    const scan = new TreeScan(member, { path: pathOrRoot(query), requester, signal });
    return scans.answer(recipesIn(member, scan, call, limit));
  };
}

async function* recipesIn(
  member: ApiMember,
  scan: TreeScan,
  { caller: { requester } }: ApiCall,
  limit: number,
): AsyncGenerator<object> {
  const seen = new Set<number>();
  const isWanted = (tree: Tree, node: number): boolean => {
    const parent = tree.parent(node);
    if (parent === NO_NODE || seen.has(parent)) return false;
    const name = tree.name(node);
    const isNews = isTelling(name) || (partOf(name)?.part === 'member' && isOwned(tree, node));
    if (isNews && seen.size < PARENTS_MAX) seen.add(parent);
    return isNews;
  };
  const clients = clientsHere(member);
  const make = (tree: Tree, node: number) => {
    // Its directory is above what was asked for.
    if (node === tree.find(scan.path)) return null;
    return recipeAt({ member, clients, requester }, tree.parent(node));
  };
  const slices = scan.slices(isWanted, make, limit);
  for (;;) {
    const { value, done } = await slices.next();
    if (done === true) {
      yield { done: true, ...value };
      return;
    }
    for (const recipe of value as Iterable<object | null>) if (recipe !== null) yield recipe;
  }
}

function isOwned(tree: Tree, node: number): boolean {
  return tree.mode(node) === 'ephemeral';
}
