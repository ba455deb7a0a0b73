/**
 * Recognizes streams of another protocol by their first bytes: TLS, HTTP, a four-letter word, or a
 * message for another port of Rookery or ZooKeeper. Returns a sentence for the log: what came, and
 * what to do. Decides nothing: the ports refuse these bytes anyway. Called by the client port and
 * by peer links.
 */
import { isFourLetterWord } from '../config/four-letter-words.js';

/** The first bytes of a stream that tell what it is. */
export const FOREIGN_BYTES = 8;

type Foreign = 'tls' | 'tlsAlert' | 'http' | 'word' | 'election' | 'learner' | 'client' | 'member';

const TLS_ALERT = 0x15;
/** The first byte of a TLS handshake; as the length of a frame it would mean 369 MB. */
export const TLS_HANDSHAKE = 0x16;
const TLS_MAJOR = 3;
const HTTP: readonly string[] = [
  ...['GET ', 'HEAD', 'POST', 'PUT ', 'DELE', 'OPTI', 'PATC', 'TRAC', 'CONN', 'PRI ', 'HTTP'],
];
/** ZooKeeper's FOLLOWERINFO and OBSERVERINFO. */
const LEARNER_KINDS: readonly number[] = [11, 16];
/** The lengths of a ConnectRequest, with and without a password and the byte for read-only. */
const CONNECT_BYTES = { min: 28, max: 64 };
/** A hello, or less. */
const MEMBER_BYTES_MAX = 4096;

const ZOOKEEPER =
  'Apache ZooKeeper and Rookery form no ensemble with each other: correct the addresses';
const AT_PEER_PORT: Readonly<Record<Foreign, string | null>> = {
  tls: 'a TLS handshake, and this port speaks no TLS: set peerAuth.tls in the file of this member',
  tlsAlert: 'a TLS alert, so the other side takes only TLS: set peerAuth.tls in this file',
  http: 'HTTP, which metricsPort and adminPort speak: correct the port in that address',
  word: 'a four-letter word, which clientPort answers: correct the port in that address',
  election: `a message of an election of Apache ZooKeeper. ${ZOOKEEPER}`,
  learner: `what a follower of Apache ZooKeeper says to its leader. ${ZOOKEEPER}`,
  client: 'a request for a session, which clientPort takes: correct the port in that address',
  member: null,
};
const AT_CLIENT_PORT: Readonly<Record<Foreign, string | null>> = {
  tls: 'a TLS handshake, and this port speaks no TLS: set tls, or let the client do without it',
  tlsAlert: 'a TLS alert: correct the port in that address',
  http: 'HTTP, which metricsPort and adminPort speak: correct the port in that address',
  word: null,
  election: `a message of an election of Apache ZooKeeper. ${ZOOKEEPER}`,
  learner: `what a follower of Apache ZooKeeper says to its leader. ${ZOOKEEPER}`,
  client: null,
  member: 'a message of a member, which peerPort takes: correct the port in the files',
};

/** Takes the beginning of a stream; null for what belongs to the port or is not known. */
export function foreignAtPeerPort(first: Uint8Array): string | null {
  return sentenceFor(first, AT_PEER_PORT);
}

/** The same at the client port. */
export function foreignAtClientPort(first: Uint8Array): string | null {
  return sentenceFor(first, AT_CLIENT_PORT);
}

/** Whether it is the beginning of a TLS handshake. */
export function isTlsHandshake([type, version]: Uint8Array): boolean {
  return type === TLS_HANDSHAKE && version === TLS_MAJOR;
}

function sentenceFor(first: Uint8Array, texts: typeof AT_PEER_PORT): string | null {
  const foreign = foreignIn(first);
  const text = foreign === null ? null : texts[foreign];
  return text === null ? null : `what came is ${text}`;
}

function foreignIn(first: Uint8Array): Foreign | null {
  const [a = 0, b = 0, c = 0, d = 0, body] = first;
  if (isTlsHandshake(first)) return 'tls';
  if (b === TLS_MAJOR && a === TLS_ALERT) return 'tlsAlert';
  const text = String.fromCharCode(a, b, c, d);
  if (HTTP.includes(text)) return 'http';
  if (isFourLetterWord(text)) return 'word';
  if (isElection(first)) return 'election';
  const length = a * 2 ** 24 + ((b << 16) | (c << 8) | d);
  if (body === undefined) return null;
  if (body === 0) {
    if (LEARNER_KINDS.includes(length)) return 'learner';
    return length >= CONNECT_BYTES.min && length <= CONNECT_BYTES.max ? 'client' : null;
  }
  // A message of members is a list in msgpack.
  const isList = (body & 0xf0) === 0x90 || body === 0xdc;
  return isList && length <= MEMBER_BYTES_MAX ? 'member' : null;
}

/** The versions of ZooKeeper's protocol of elections, -65536 and -65535, as a long. */
function isElection(first: Uint8Array): boolean {
  if (first.length < FOREIGN_BYTES) return false;
  return first.subarray(0, 6).every((byte) => byte === 0xff) && first[6] === 0;
}

/** OpenSSL's words for bytes that are no TLS. */
const NO_TLS: ReadonlySet<string> = new Set([
  ...['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_HTTP_REQUEST', 'ERR_SSL_HTTPS_PROXY_REQUEST'],
  ...['ERR_SSL_PACKET_LENGTH_TOO_LONG', 'ERR_SSL_UNKNOWN_PROTOCOL'],
]);

/** Whether a handshake has failed because the other side speaks no TLS. */
export function speaksNoTls(error: Error): boolean {
  return 'code' in error && NO_TLS.has(String(error.code));
}
