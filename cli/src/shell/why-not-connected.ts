/**
 * Says what the servers of a target do, where they give no session.
 *
 * Each is asked for its state, and if it does not tell, whether it speaks TLS although the target
 * does not, or the reverse: that no waiting mends.
 */
import { errorMessage } from '@rookery/protocol';
import { askWord } from '../status/four-letter-word.js';
import { isOfServer, parseStatus, reasonOf } from '../status/server-status.js';
import { speaksTls } from '../status/speaks-tls.js';
import { addressesOf, type NamedAddress } from './addresses.js';
import type { ClientTls } from './client-proofs.js';

const ASK_TIMEOUT_MS = 1000;

/** What of a target is asked for, and what the sentences name. */
export interface TargetToExplain {
  readonly connect: string;
  readonly source: string;
  readonly auth: readonly unknown[];
  readonly tls: ClientTls | null;
  readonly timeoutMs: number;
}

interface Look {
  readonly address: string;
  readonly isThere: boolean;
  readonly serves: boolean;
  /** Whether it is there and takes no connections of the target's kind. */
  readonly isOfOtherKind: boolean;
  readonly state: string;
}

/** Returns a sentence. */
export async function whyNotConnected(target: TargetToExplain): Promise<string> {
  return sentenceOf(target, await looksAt(target));
}

/**
 * Returns a sentence if every server that is there, and at least one, takes no connections of the
 * target's kind, with TLS or without; null otherwise.
 */
export async function whyNeverConnected(target: TargetToExplain): Promise<string | null> {
  const there = (await looksAt(target)).filter(({ isThere }) => isThere);
  if (there.length === 0 || !there.every(({ isOfOtherKind }) => isOfOtherKind)) return null;
  const states = there.map(({ address, state }) => `${address}: ${state}`).join('; ');
  return `No session: ${states}. The servers are those of ${target.source}.`;
}

function sentenceOf({ timeoutMs, source }: TargetToExplain, looks: readonly Look[]): string {
  const reached = looks.filter(({ isThere }) => isThere).length;
  const count = `${reached} of ${looks.length} servers can be reached`;
  const states = looks.map(({ address, state }) => `${address}: ${state}`).join('; ');
  const what = looks.some(({ serves, isOfOtherKind }) => serves || isOfOtherKind)
    ? `No session in ${timeoutMs / 1000} s`
    : `No quorum in ${timeoutMs / 1000} s`;
  return `${what}, ${count} (${states}). The servers are those of ${source}.`;
}

function looksAt(target: TargetToExplain): Promise<readonly Look[]> {
  return Promise.all(
    addressesOf(target.connect, target.tls).map((server) => lookAt(server, target)),
  );
}

async function lookAt(
  { address, ...server }: NamedAddress,
  target: TargetToExplain,
): Promise<Look> {
  const look = { address, isThere: true, serves: false, isOfOtherKind: false };
  let trouble: string;
  try {
    const text = await askWord(server, 'srvr', ASK_TIMEOUT_MS);
    if (parseStatus(text) !== null) return { ...look, serves: true, state: noSessionOf(target) };
    if (isOfServer(text)) return { ...look, state: reasonOf(text) };
    trouble = reasonOf(text);
  } catch (error) {
    trouble = errorMessage(error);
    look.isThere = false;
  }
  const other = await otherKindOf(server);
  if (other === null) return { ...look, state: trouble };
  return { ...look, isThere: true, isOfOtherKind: true, state: other };
}

/** A sentence if the server takes connections of the other kind alone; null if not, or unknown. */
async function otherKindOf({ host, port, tls }: Omit<NamedAddress, 'address'>) {
  const speaks = await speaksTls({ host, port }, ASK_TIMEOUT_MS);
  if (tls === undefined) return speaks ? 'it speaks TLS alone: give --tls-ca, or --tls' : null;
  if (speaks) return null;
  const text = await askWord({ host, port }, 'srvr', ASK_TIMEOUT_MS).catch(() => '');
  return isOfServer(text) ? 'it does not speak TLS: leave out what asks for TLS' : null;
}

function noSessionOf({ tls, auth }: TargetToExplain): string {
  const missing = [...(tls === null ? ['TLS'] : []), ...(auth.length === 0 ? ['a login'] : [])];
  const maybe = missing.length === 0 ? '' : `: it may ask for ${missing.join(' or ')}`;
  return `it serves, but gives no session${maybe}`;
}
