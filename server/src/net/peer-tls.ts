/**
 * TLS between members: one certificate for both directions, kept current with its files.
 *
 * Both sides present a certificate that an authority of `caFile` has signed; whether it is that of
 * the member at the other end is judged by its names (peer-certificate.ts). A new certificate holds
 * for links that begin from then on. Made at the start of a member; used by the peer port.
 */
import type { ConnectionOptions } from 'node:tls';
import type { Logger } from 'pino';
import type { TlsFiles } from '../security/tls-files.js';
import type { Timers } from './timers.js';
import type { TlsAcceptor } from './tls-acceptor.js';
import { isSignedByOneOf } from './trusted-chain.js';
import { WatchedTls } from './watched-tls.js';

export interface PeerTlsSettings extends TlsFiles {
  /** The name of the ensemble in URIs of certificates; null if it has none. */
  readonly ensemble: string | null;
}

export interface PeerTlsParts {
  readonly settings: PeerTlsSettings;
  readonly logger: Logger;
  readonly timers: Timers;
}

/** A link has two seconds in all until its hello. */
const HANDSHAKE_TIMEOUT_MS = 2_000;
/** This is above the number of links that are not admitted, which has a bound of its own. */
const HANDSHAKES_MAX = 1_024;

export class PeerTls extends WatchedTls {
  readonly ensemble: string | null;
  readonly acceptor: TlsAcceptor;

  /** Reads the files. Throws OperatorError with a sentence that names what is wrong. */
  constructor(parts: PeerTlsParts) {
    const name = 'the certificate of peerAuth';
    super({ ...parts, name, port: 'peer', handshakesMax: HANDSHAKES_MAX });
    this.ensemble = parts.settings.ensemble;
    this.acceptor = this.addAcceptor({
      name: 'peer',
      clientAuth: 'need',
      handshakeTimeoutMs: HANDSHAKE_TIMEOUT_MS,
      plainAdvice: 'set peerAuth.tls in the file of that member',
    });
  }

  /** The options for dialling another member; its names are judged once it is connected. */
  dialOptions(): ConnectionOptions {
    const { options, isPkcs12, authorities } = this.material;
    return {
      ...options,
      rejectUnauthorized: true,
      checkServerIdentity: (_host, certificate) => {
        // Node passes the certificate with its chain.
        if (!isPkcs12 || isSignedByOneOf(authorities, certificate)) return undefined;
        return new Error('its authority is not in caFile');
      },
    };
  }
}
