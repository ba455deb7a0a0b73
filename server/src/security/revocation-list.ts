/**
 * When a list of revoked certificates expires, which Node does not tell. Where one has expired, TLS
 * refuses everybody whose authority it is of.
 */
import { DerReader, TAG } from './der-reader.js';
import { pemBlocks } from './pem-blocks.js';

const LABEL = 'X509 CRL';
const INTEGER = 0x02;
const UTC_TIME = 0x17;
const GENERALIZED_TIME = 0x18;

/**
 * Returns the earliest end of the lists in a PEM file, in ms since 1970; null if none of them ends.
 * Throws DerError for what is no such list.
 */
export function revocationListEnd(pem: Uint8Array): number | null {
  let earliest: number | null = null;
  for (const block of pemBlocks(Buffer.from(pem).toString('latin1'), LABEL)) {
    const base64 = block.split('-----')[2] ?? '';
    const end = endOf(Buffer.from(base64, 'base64'));
    if (end !== null && (earliest === null || end < earliest)) earliest = end;
  }
  return earliest;
}

/** RFC 5280, section 5.1: version, signature, issuer, thisUpdate, nextUpdate. */
function endOf(der: Uint8Array): number | null {
  const list = new DerReader(der).enter(TAG.sequence).enter(TAG.sequence);
  list.maybeSkip(INTEGER);
  list.skip();
  list.skip();
  list.skip();
  if (list.isAtEnd) return null;
  const { tag, bytes } = list.next();
  if (tag !== UTC_TIME && tag !== GENERALIZED_TIME) return null;
  return timeOf(Buffer.from(bytes).toString('latin1'), tag === UTC_TIME);
}

/**
 * `YYMMDDHHMMSSZ`, where years from 50 on are of the last century, or `YYYYMMDDHHMMSSZ`; null for
 * any other text.
 */
function timeOf(text: string, hasShortYear: boolean): number | null {
  const century = Number(text.slice(0, 2)) < 50 ? '20' : '19';
  const whole = hasShortYear ? `${century}${text}` : text;
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(whole) ?? [];
  const ms = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(ms) ? null : ms;
}
