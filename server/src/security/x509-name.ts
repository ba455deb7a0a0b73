/**
 * The subject of a certificate in the text that Java makes of it, which is the id of an ACL of
 * scheme x509.
 *
 * `X500Principal.getName()` writes RFC 2253 in its own way, and an ACL is compared letter by
 * letter: the parts in reverse order, joined by commas; nine attributes by their names and all
 * others by their numbers with the DER of the value in hex; a value's bytes read as UTF-8, whatever
 * string type they are declared to be. Node's own text has another form and loses the types, so the
 * subject is read from the certificate's DER. Called by the client port.
 */
import { DerError, DerReader, TAG } from './der-reader.js';

const KEYWORDS: ReadonlyMap<string, string> = new Map([
  ['2.5.4.3', 'CN'],
  ['2.5.4.6', 'C'],
  ['2.5.4.7', 'L'],
  ['2.5.4.8', 'ST'],
  ['2.5.4.9', 'STREET'],
  ['2.5.4.10', 'O'],
  ['2.5.4.11', 'OU'],
  ['0.9.2342.19200300.100.1.25', 'DC'],
  ['0.9.2342.19200300.100.1.1', 'UID'],
]);
/** UTF8String, PrintableString, T61String, IA5String, GeneralString, UniversalString, BMPString. */
const STRING_TAGS: ReadonlySet<number> = new Set([0x0c, 0x13, 0x14, 0x16, 0x1b, 0x1c, 0x1e]);
/** No registered number of an attribute is as long; writing one takes the square of its length. */
const OID_BYTES_MAX = 128;

/** '' for a certificate without a subject. Throws DerError for what is no certificate. */
export function x509Name(certificate: Uint8Array): string {
  const fields = new DerReader(certificate).enter(TAG.sequence).enter(TAG.sequence);
  fields.maybeSkip(TAG.version);
  // The serial number, the algorithm, the issuer and the validity.
  for (let field = 0; field < 4; field++) fields.skip();
  return nameText(fields.next().whole);
}

/** The text of a name by its DER. Throws DerError. */
export function nameText(der: Uint8Array): string {
  const name = new DerReader(der).enter(TAG.sequence);
  const parts: string[] = [];
  while (!name.isAtEnd) parts.push(relativeName(name.enter(TAG.set)));
  return parts.reverse().join(',');
}

function relativeName(attributes: DerReader): string {
  const texts: string[] = [];
  while (!attributes.isAtEnd) {
    const attribute = attributes.enter(TAG.sequence);
    const oid = oidText(attribute.bytesOf(TAG.oid));
    const { tag, bytes, whole } = attribute.next();
    const keyword = KEYWORDS.get(oid);
    texts.push(
      keyword === undefined || !STRING_TAGS.has(tag)
        ? `${keyword ?? oid}=#${Buffer.from(whole).toString('hex')}`
        : `${keyword}=${escaped(Buffer.from(bytes).toString('utf8'))}`,
    );
  }
  return texts.join('+');
}

function escaped(value: string): string {
  const inner = value.replace(/[,=+<>#;"\\]/g, '\\$&').replaceAll('\0', '\\00');
  const quoted = (blanks: string) => blanks.replace(/./gs, '\\$&');
  let lead = 0;
  while (lead < inner.length && isBlank(inner, lead)) lead++;
  if (lead === inner.length) return quoted(inner);
  let trail = inner.length;
  while (isBlank(inner, trail - 1)) trail--;
  return quoted(inner.slice(0, lead)) + inner.slice(lead, trail) + quoted(inner.slice(trail));
}

function isBlank(text: string, at: number): boolean {
  const char = text.charCodeAt(at);
  return char === 0x20 || char === 0x0d;
}

/** Throws DerError for a number that is too long. */
function oidText(bytes: Uint8Array): string {
  if (bytes.length > OID_BYTES_MAX) {
    throw new DerError(`the number of an attribute has ${bytes.length} bytes`);
  }
  const numbers: bigint[] = [];
  let number = 0n;
  for (const byte of bytes) {
    number = number * 128n + BigInt(byte & 0x7f);
    if ((byte & 0x80) !== 0) continue;
    numbers.push(number);
    number = 0n;
  }
  const [first = 0n, ...rest] = numbers;
  const root = first < 40n ? 0n : first < 80n ? 1n : 2n;
  return [root, first - 40n * root, ...rest].join('.');
}

type NameKind = 'uri' | 'dns';

/** Extension 2.5.29.17. */
const ALTERNATIVE_NAMES = Buffer.from([0x55, 0x1d, 0x11]).toString('hex');
const TAGS: Readonly<Record<NameKind, number>> = { uri: 0x86, dns: 0x82 };
const EXTENSIONS = 0xa3;
const OCTETS = 0x04;

/** No subject of a certificate has either form, because it has a `=` before any `:`. */
const URI = /^[A-Za-z][A-Za-z0-9+.-]*:[\x21-\x7e]+$/;
const URI_CHARACTERS_MAX = 2_048;
const DNS = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]*)(?:\.[a-z0-9_-]+)*$/;

/** Whether the text has the form of such a name. */
export function isAlternativeName(kind: NameKind, text: string): boolean {
  if (kind === 'dns') return DNS.test(text);
  return text.length <= URI_CHARACTERS_MAX && URI.test(text);
}

/**
 * The alternative names (SAN) of a certificate that can be a client's identity: its URIs or its DNS
 * names, as texts that no subject equals.
 *
 * Node's own text of them has to be parsed with care for quotes, so they are read from the
 * certificate's DER. What no ACL could name without doubt is left out: a URI needs a scheme and
 * printable ASCII, a DNS name has no wildcard and is written in small letters. Whoever asks must
 * have had the certificate verified. Pure.
 */
export function alternativeNames(certificate: Uint8Array, kind: NameKind): readonly string[] {
  const fields = new DerReader(certificate).enter(TAG.sequence).enter(TAG.sequence);
  while (!fields.isAtEnd) {
    const { tag, bytes } = fields.next();
    if (tag === EXTENSIONS) return namesIn(new DerReader(bytes).enter(TAG.sequence), kind);
  }
  return [];
}

function namesIn(extensions: DerReader, kind: NameKind): readonly string[] {
  while (!extensions.isAtEnd) {
    const extension = extensions.enter(TAG.sequence);
    const id = Buffer.from(extension.bytesOf(TAG.oid)).toString('hex');
    if (id !== ALTERNATIVE_NAMES) continue;
    let value = extension.next();
    // Whether the extension is critical comes before its value.
    if (value.tag !== OCTETS) value = extension.next();
    return namesOf(new DerReader(value.bytes).enter(TAG.sequence), kind);
  }
  return [];
}

function namesOf(entries: DerReader, kind: NameKind): readonly string[] {
  const names = new Set<string>();
  while (!entries.isAtEnd) {
    const { tag, bytes } = entries.next();
    if (tag !== TAGS[kind]) continue;
    const text = Buffer.from(bytes).toString('latin1');
    const name = kind === 'dns' ? text.toLowerCase() : text;
    if (isAlternativeName(kind, name)) names.add(name);
  }
  return [...names];
}
