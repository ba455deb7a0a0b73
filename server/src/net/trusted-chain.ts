/**
 * Whether one of the authorities of `caFile` is in the chain of a certificate that Node has
 * verified.
 *
 * Node trusts every certificate inside a PKCS#12 file, so a side that has one looks at the chain
 * itself: when it accepts (tls-acceptor.ts), and when it dials (peer-tls.ts).
 */
/** What Node tells of a certificate; the last one of a whole chain names itself as its issuer. */
export interface ChainLink {
  readonly fingerprint256: string;
  readonly issuerCertificate?: ChainLink;
}

/** More than any chain that OpenSSL verifies has. */
const CHAIN_MAX = 100;

/** `authorities` are fingerprints as in `TlsMaterial`. */
export function isSignedByOneOf(authorities: ReadonlySet<string>, certificate: ChainLink): boolean {
  let link: ChainLink | undefined = certificate;
  for (let length = 0; link !== undefined && length < CHAIN_MAX; length++) {
    if (authorities.has(link.fingerprint256)) return true;
    link = link.issuerCertificate === link ? undefined : link.issuerCertificate;
  }
  return false;
}
