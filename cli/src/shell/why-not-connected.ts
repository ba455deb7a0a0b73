/**
 * Says what the servers of a target do, where they give no session.
 *
 * Each is asked for its state. What no waiting mends is told apart: it takes only connections by
 * TLS and the target has none, or the reverse, or one of the two does not accept the other's
 * certificate.
 */
import { errorMessage } from '@rookery/protocol';
import { codeOf } from '../error-code.js';
import { askWord } from '../status/four-letter-word.js';
import { isOfServer, parseStatus, reasonOf, saysItLacksQuorum } from '../status/server-status.js';
import { needsTls, speaksTls } from '../status/speaks-tls.js';
import { addressesOf, type NamedAddress } from './addresses.js';
import type { ClientTls } from './client-proofs.js';

const ASK_TIMEOUT_MS = 1000;
const ASKED_TIMES_BY_TLS = 4;
const HANG_UP_TIMEOUT_MS = 300;
const NEEDS_TLS = 'it gives no session without TLS: give --tls-ca, or --tls';

/** Codes of Node for a server's certificate that cannot be trusted, or is not of that host. */
const IS_UNTRUSTED = /^(?:UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_)/;
const IS_NOT_ACCEPTED = /^(?:CERT_|ERR_TLS_CERT_)/;
/** Codes for what a server answers to a client without a certificate, or with a wrong one. */
const IS_REFUSED = /^ERR_SSL_\w*ALERT_(?:\w*CERT|UNKNOWN_CA|HANDSHAKE_FAILURE)/;

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
  /** Whether it says that it serves nobody. */
  readonly lacksQuorum: boolean;
  /** Whether it is there and will never take a connection of this target. */
  readonly isHopeless: boolean;
  readonly state: string;
}

/** Returns a sentence. `trouble` is what the last attempt to get a session failed at, if known. */
export async function whyNotConnected(target: TargetToExplain, trouble = ''): Promise<string> {
  return sentenceOf(target, await looksAt(target), trouble);
}

/**
 * Returns a sentence if every server that is there, and at least one, will never take a connection
 * of this target, because of TLS or of certificates; null otherwise.
 */
export async function whyNeverConnected(target: TargetToExplain): Promise<string | null> {
  const there = (await looksAt(target)).filter(({ isThere }) => isThere);
  if (there.length === 0 || !there.every(({ isHopeless }) => isHopeless)) return null;
  const states = there.map(({ address, state }) => `${address}: ${state}`).join('; ');
  return `No session: ${states}. The servers are those of ${target.source}.`;
}

function sentenceOf(
  { timeoutMs, source }: TargetToExplain,
  looks: readonly Look[],
  trouble: string,
): string {
  const reached = looks.filter(({ isThere }) => isThere).length;
  const count = `${reached} of ${looks.length} servers can be reached`;
  const states = looks.map(({ address, state }) => `${address}: ${state}`).join('; ');
  const isServed = looks.some(({ serves }) => serves);
  const what =
    !isServed && looks.some(({ lacksQuorum }) => lacksQuorum) ? 'No quorum' : 'No session';
  const last = isServed && trouble !== '' ? ` The last attempt failed: ${trouble}.` : '';
  const where = `The servers are those of ${source}.`;
  return `${what} in ${timeoutMs / 1000} s, ${count} (${states}).${last} ${where}`;
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
  const look = { address, isThere: true, serves: false, lacksQuorum: false, isHopeless: false };
  let trouble: string;
  let hopeless: string | null = null;
  try {
    const text = await answerOf(server);
    if (parseStatus(text) !== null) {
      return { ...look, serves: true, ...(await noSessionOf(server, target)) };
    }
    if (isOfServer(text)) {
      return { ...look, lacksQuorum: saysItLacksQuorum(text), state: reasonOf(text) };
    }
    trouble = reasonOf(text);
  } catch (error) {
    trouble = errorMessage(error);
    hopeless = certificateTroubleOf(error);
    look.isThere = false;
  }
  hopeless ??= await otherKindOf(server);
  if (hopeless === null) return { ...look, state: trouble };
  return { ...look, isThere: true, isHopeless: true, state: hopeless };
}

/**
 * Node drops some of the alerts that come behind a handshake, as one about a certificate does. So
 * an end without an answer or an alert is not believed at once.
 */
async function answerOf(server: Omit<NamedAddress, 'address'>): Promise<string> {
  let text = '';
  const times = server.tls === undefined ? 1 : ASKED_TIMES_BY_TLS;
  for (let asked = 0; asked < times && text === ''; asked++) {
    text = await askWord(server, 'srvr', ASK_TIMEOUT_MS);
  }
  return text;
}

/** A sentence if the server takes connections of the other kind alone; null if not, or unknown. */
async function otherKindOf({ host, port, tls }: Omit<NamedAddress, 'address'>) {
  const speaks = await speaksTls({ host, port }, ASK_TIMEOUT_MS);
  if (tls === undefined) return speaks ? 'it speaks TLS alone: give --tls-ca, or --tls' : null;
  if (speaks) return null;
  const text = await askWord({ host, port }, 'srvr', ASK_TIMEOUT_MS).catch(() => '');
  return isOfServer(text) ? 'it does not speak TLS: leave out what asks for TLS' : null;
}

/** A sentence if an error of TLS is about a certificate; null otherwise. */
function certificateTroubleOf(error: unknown): string | null {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const code = codeOf(cause);
  const reason = errorMessage(error);
  if (IS_UNTRUSTED.test(code)) {
    return `its certificate is of an authority that is not trusted here: name it by --tls-ca (${reason})`;
  }
  if (IS_NOT_ACCEPTED.test(code)) return `its certificate is not accepted here (${reason})`;
  if (!IS_REFUSED.test(code)) return null;
  return `it refuses the certificate of this command, or the lack of one (${reason}): see --tls-cert`;
}

/** Of a server that serves. */
async function noSessionOf(
  { host, port }: Omit<NamedAddress, 'address'>,
  { tls, auth }: TargetToExplain,
): Promise<Pick<Look, 'isHopeless' | 'state'>> {
  if (tls === null && (await needsTls({ host, port }, HANG_UP_TIMEOUT_MS))) {
    return { isHopeless: true, state: NEEDS_TLS };
  }
  const maybe = auth.length === 0 ? ': it may ask for a login' : '';
  return { isHopeless: false, state: `it serves, but gives no session${maybe}` };
}
