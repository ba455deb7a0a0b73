/**
 * The state machine of a simulated member: the list of everything that was delivered.
 *
 * It is immutable and linked backwards, so a checkpoint is a pointer. The digest covers the whole
 * past: two trees with the same zxid and digest are equal.
 */
import { assert, type Proposal, type Zxid } from '@rookery/protocol';

export interface Tree {
  readonly zxid: Zxid;
  readonly digest: number;
  readonly payload: string;
  readonly before: Tree | null;
}

export const EMPTY_TREE: Tree = { zxid: 0, digest: 17, payload: '', before: null };

export function applyTo(tree: Tree, proposal: Proposal): Tree {
  assert(
    proposal.previous === tree.zxid,
    () => `delivery of ${proposal.zxid} after ${proposal.previous} to a tree at ${tree.zxid}`,
  );
  const payload = textOf(proposal);
  let digest = Math.imul(tree.digest, 31) ^ (proposal.zxid % 0x7fffffff);
  for (let index = 0; index < payload.length; index += 1) {
    digest = Math.imul(digest, 31) ^ payload.charCodeAt(index);
  }
  return { zxid: proposal.zxid, digest, payload, before: tree };
}

export function payloadsOf(tree: Tree): readonly string[] {
  const payloads: string[] = [];
  for (let at: Tree | null = tree; at !== null && at.before !== null; at = at.before) {
    payloads.push(at.payload);
  }
  return payloads.reverse();
}

export function bytesOf(payload: string): Uint8Array {
  return new TextEncoder().encode(payload);
}

export function textOf(proposal: Proposal): string {
  return new TextDecoder().decode(proposal.body);
}
