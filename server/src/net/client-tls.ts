/**
 * TLS for the ports of clients. Made at the start of a member, before it opens anything; used by
 * the client port.
 */
import type { Logger } from 'pino';
import type { TlsSettings } from '../config/config-security.js';
import type { Timers } from './timers.js';
import type { TlsAcceptor } from './tls-acceptor.js';
import { WatchedTls } from './watched-tls.js';

const PLAIN_ADVICE = 'a client without TLS connects to clientPort, or is given TLS';

export interface ClientTlsParts {
  readonly settings: TlsSettings;
  readonly logger: Logger;
  readonly timers: Timers;
}

export class ClientTls extends WatchedTls {
  readonly settings: TlsSettings;

  /** Reads the files. Throws OperatorError with a sentence that names what is wrong. */
  constructor(parts: ClientTlsParts) {
    const { handshakesMax } = parts.settings;
    super({ ...parts, name: 'tls', port: 'client', handshakesMax });
    this.settings = parts.settings;
  }

  /** Each listener has an acceptor of its own, whose sessions are not resumed at another one. */
  newAcceptor(name: string): TlsAcceptor {
    const { clientAuth, handshakeTimeoutMs } = this.settings;
    return this.addAcceptor({ name, clientAuth, handshakeTimeoutMs, plainAdvice: PLAIN_ADVICE });
  }
}
