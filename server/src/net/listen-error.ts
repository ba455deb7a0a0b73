/**
 * A port that could not be opened: says which one, why, and what to do about it.
 *
 * Thrown by `ClientPort.listen`, `PeerPort.listen` and what opens the HTTP ports; the command line
 * prints the message as it is.
 */
import { errorMessage } from '@rookery/protocol';
import { type ListenAddress, listenHostsOf } from '../config/addresses.js';

export type PortPurpose = 'client' | 'secureClient' | 'peer' | 'metrics' | 'admin';

export class ListenError extends Error {
  override readonly name = 'ListenError';
  /** EADDRINUSE, EACCES, EADDRNOTAVAIL ..., UNKNOWN when the cause has none. */
  readonly code: string;
  readonly port: number;

  constructor(purpose: PortPurpose, address: ListenAddress, cause: unknown) {
    const code = codeOf(cause);
    const where = `${purpose} port ${address.port} on ${listenHostsOf(address).join(', ')}`;
    super(`cannot listen on ${where}: ${adviceFor(code, purpose, cause)}`, { cause });
    this.code = code;
    this.port = address.port;
  }
}

function adviceFor(code: string, purpose: PortPurpose, cause: unknown): string {
  const key = `${purpose}Port`;
  const host = purpose === 'metrics' || purpose === 'admin' ? `${purpose}Host` : 'host';
  switch (code) {
    case 'EADDRINUSE':
      return `it is in use (${code}); stop the process that has it or change this server's ${key}`;
    case 'EACCES':
      return `not permitted (${code}); choose a ${key} above 1023 or grant the privilege`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `the name cannot be resolved (${code}); correct its ${host}, or the resolver`;
    case 'EADDRNOTAVAIL':
      return (
        `this machine does not have that address (${code}); correct this server's ${host}` +
        (host === 'host' ? ', or say in listen what is bound here ("*" is every address)' : '')
      );
    default:
      return errorMessage(cause);
  }
}

function codeOf(cause: unknown): string {
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') {
    return cause.code;
  }
  return 'UNKNOWN';
}
