/**
 * Whether one of the authorities of `caFile` is in the chain of a certificate that Node has
 * verified.
 *
 * Node trusts every certificate inside a PKCS#12 file, so a side that has one looks at the chain
 * itself: when it accepts (tls-acceptor.ts), and when it dials (peer-tls.ts). The chain that Node
 * reports is not the one that it has verified: Node joins the certificates that the other side sent
 * by the names of their issuers. So the signatures are verified here; otherwise a forged
 * certificate in between would pass.
 */
import { X509Certificate } from 'node:crypto';

/** What Node reports of a certificate; the last one of a whole chain is its own issuer. */
export interface ChainLink {
  /** DER. */
  readonly raw: Uint8Array;
  readonly fingerprint256: string;
  readonly issuerCertificate?: ChainLink;
}

/** More than any chain that OpenSSL verifies has. */
const CHAIN_MAX = 100;

/** `authorities` are SHA-256 fingerprints as in `TlsMaterial`. */
export function isSignedByOneOf(authorities: ReadonlySet<string>, certificate: ChainLink): boolean {
  let link = certificate;
  for (let length = 0; length < CHAIN_MAX; length++) {
    if (authorities.has(link.fingerprint256)) return true;
    const issuer = link.issuerCertificate;
    if (issuer === undefined || issuer === link || !isSignedBy(issuer, link)) return false;
    link = issuer;
  }
  return false;
}

function isSignedBy(issuer: ChainLink, link: ChainLink): boolean {
  try {
    const { publicKey } = new X509Certificate(issuer.raw);
    return new X509Certificate(link.raw).verify(publicKey);
  } catch {
    // The issuer's key is of a kind that Node does not know.
    return false;
  }
}
