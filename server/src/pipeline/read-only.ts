/**
 * Read-only mode: what a member without a quorum answers to a client that allows it.
 *
 * It answers reads of what is applied, and nothing that could change anything or asks what the
 * quorum has agreed on. Called by Requests.
 */
import { unreachable } from '@rookery/protocol';
import type { RequestClass } from './request.js';

/** Such a request is answered -119 at once, and the connection stays. */
export function isRefusedReadOnly(requestClass: RequestClass): boolean {
  switch (requestClass) {
    case 'write':
    case 'sync':
      return true;
    case 'read':
    case 'auth':
    case 'sasl':
    case 'close':
    case 'unknown':
      return false;
    default:
      return unreachable(requestClass);
  }
}
