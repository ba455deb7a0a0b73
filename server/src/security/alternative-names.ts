/**
 * The alternative names (SAN) of a certificate that can be a client's identity: its URIs or its DNS
 * names, as texts that no subject equals.
 *
 * Node's own text of them has to be parsed with care for quotes, so they are read from the
 * certificate's DER. What no ACL could name without doubt is left out: a URI needs a scheme and
 * printable ASCII, a DNS name has no wildcard and is written in small letters. Whoever asks must
 * have had the certificate verified. Pure.
 */
import { DerReader, TAG } from './der-reader.js';

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

/** Empty for a certificate without any. Throws DerError for what is no certificate. */
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
