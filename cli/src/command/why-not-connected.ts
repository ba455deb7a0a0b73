/**
 * Says what the servers of a target do, where they give no session.
 *
 * Each is asked for its state. Reasons that do not go away by waiting are told apart: a server
 * takes only connections by TLS and the target has none, or the reverse, or one of the two does not
 * accept the other's certificate.
 */

import { connect as connectPlainly } from 'node:net';
import { connect } from 'node:tls';
import { errorMessage } from '@rookery/protocol';
import { codeOf } from '../machine/error-code.js';
import { askWord } from '../status/four-letter-word.js';
import { isOfServer, parseStatus, reasonOf, saysItLacksQuorum } from '../status/server-status.js';
import { addressesOf, type NamedAddress } from './addresses.js';
import type { TlsPaths } from './client-proofs.js';

const ASK_TIMEOUT_MS = 1000;
const ATTEMPTS_BY_TLS = 4;
const HANG_UP_TIMEOUT_MS = 300;
const NEEDS_TLS = 'it gives no session without TLS: give --tls-ca, or --tls';

/** Codes of Node for a server's certificate that cannot be trusted, or is not of that host. */
const IS_UNTRUSTED = /^(?:UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_)/;
const IS_NOT_ACCEPTED = /^(?:CERT_|ERR_TLS_CERT_)/;
/** Codes for what a server answers to a client without a certificate, or with a wrong one. */
const IS_REFUSED = /^ERR_SSL_\w{0,60}ALERT_(?:\w{0,60}CERT|UNKNOWN_CA)/;

/** What of a target is asked for, and what the sentences name. */
interface TargetToExplain {
  readonly connect: string;
  readonly source: string;
  readonly auth: readonly unknown[];
  readonly tls: TlsPaths | null;
  /** How long a session was waited for; null if one may have been there before. */
  readonly timeoutMs: number | null;
}

interface Look {
  readonly address: string;
  readonly isThere: boolean;
  readonly serves: boolean;
  /** The server reports that it serves no clients. */
  readonly lacksQuorum: boolean;
  /**
   * Why it will never take a connection of this target, although it is there: TLS, which all
   * members have or have not, or a certificate, which is each member's own.
   */
  readonly hopeless: 'tls' | 'certificate' | null;
  readonly state: string;
}

/** Returns a sentence. `trouble` is what the last attempt to get a session failed at, if known. */
export async function whyNotConnected(target: TargetToExplain, trouble = ''): Promise<string> {
  return sentenceOf(target, await looksAt(target), trouble);
}

/**
 * Returns a sentence if no server will ever take a connection of this target; null otherwise. With
 * TLS that is what every server that is there says, and at least one. With certificates every
 * server must be there, because one that is away may have a certificate that is accepted.
 */
export async function whyNeverConnected(target: TargetToExplain): Promise<string | null> {
  const looks = await looksAt(target);
  const there = looks.filter(({ isThere }) => isThere);
  const isCertificate = there.some(({ hopeless }) => hopeless === 'certificate');
  const deciding = isCertificate ? looks : there;
  if (deciding.length === 0 || deciding.some(({ hopeless }) => hopeless === null)) return null;
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
  const waited = timeoutMs === null ? '' : ` in ${timeoutMs / 1000} s`;
  return `${what}${waited}, ${count} (${states}).${last} ${where}`;
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
  const look = { address, isThere: true, serves: false, lacksQuorum: false, hopeless: null };
  let trouble: string;
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
    const ofCertificate = certificateTroubleOf(error);
    if (ofCertificate !== null) return { ...look, hopeless: 'certificate', state: ofCertificate };
    trouble = errorMessage(error);
    look.isThere = false;
  }
  const otherKind = await otherKindOf(server);
  if (otherKind === null) return { ...look, state: trouble };
  return { ...look, isThere: true, hopeless: 'tls', state: otherKind };
}

/**
 * Returns the answer to `srvr`. With TLS 1.3 a server refuses a certificate by an alert that comes
 * after the handshake, and Node does not report each of these alerts. So where a connection by TLS
 * ends without an answer or an alert, the server is asked again.
 */
async function answerOf(server: Omit<NamedAddress, 'address'>): Promise<string> {
  let text = '';
  const attempts = server.tls === undefined ? 1 : ATTEMPTS_BY_TLS;
  for (let asked = 0; asked < attempts && text === ''; asked++) {
    text = await askWord(server, 'srvr', ASK_TIMEOUT_MS);
  }
  return text;
}

/** A sentence if the server takes only connections of the other kind; null if not, or unknown. */
async function otherKindOf({ host, port, tls }: Omit<NamedAddress, 'address'>) {
  const speaks = await speaksTls({ host, port }, ASK_TIMEOUT_MS);
  if (tls === undefined) return speaks ? 'it speaks only TLS: give --tls-ca, or --tls' : null;
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

/** Explains a server that serves. */
async function noSessionOf(
  { host, port }: Omit<NamedAddress, 'address'>,
  { tls, auth }: TargetToExplain,
): Promise<Pick<Look, 'hopeless' | 'state'>> {
  if (tls === null && (await needsTls({ host, port }, HANG_UP_TIMEOUT_MS))) {
    return { hopeless: 'tls', state: NEEDS_TLS };
  }
  const maybe = auth.length === 0 ? ': it may ask for a login' : '';
  return { hopeless: null, state: `it serves, but gives no session${maybe}` };
}

interface Port {
  readonly host: string;
  readonly port: number;
}

/** The length of a request for a session, without the request. */
const FRAME_BEGINS = Buffer.from([0, 0, 0, 44]);

/**
 * Distinguishes ports for TLS from others, for messages about connections of the wrong kind.
 *
 * Resolves with whether a server answers a TLS handshake within `timeoutMs`, also if it refuses
 * this client. Nothing else is sent, so it does not matter by whom the server is certified.
 */
function speaksTls({ host, port }: Port, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (speaks: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(speaks);
    };
    const socket = connect({ host, port, rejectUnauthorized: false }, () => end(true));
    const timer = setTimeout(() => end(false), timeoutMs);
    // An alert is an answer of TLS; whatever else comes is not.
    socket.on('error', (error) =>
      end(/^ERR_SSL_\w*ALERT/.test(String(Reflect.get(error, 'code')))),
    );
    socket.on('close', () => end(false));
  });
}

/**
 * Resolves with whether a server that serves gives no session without TLS: it speaks TLS, and
 * hangs up within `timeoutMs` when a request for a session has only begun. A server that takes
 * such requests waits for the rest, so none is made.
 */
async function needsTls(server: Port, timeoutMs: number): Promise<boolean> {
  return (await hangsUp(server, timeoutMs)) && (await speaksTls(server, timeoutMs));
}

function hangsUp({ host, port }: Port, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (hungUp: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(hungUp);
    };
    const socket = connectPlainly({ host, port }, () => socket.write(FRAME_BEGINS));
    const timer = setTimeout(() => end(false), timeoutMs);
    socket.on('error', () => end(true));
    socket.on('close', () => end(true));
    socket.resume();
  });
}
