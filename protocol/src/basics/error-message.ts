/** The text of whatever was thrown, for messages and logs. JavaScript can throw any value. */
import { addressText } from './addresses.js';

/**
 * Returns the error's message, or the value as text if it is no Error. Where Node has put an IPv6
 * address next to a port (`connect ECONNREFUSED ::1:2181`), the address gets its brackets.
 */
export function errorMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message } = error;
  const { address, port } = placeOf(error);
  if (address === null || !address.includes(':')) return message;
  return message.replace([address, port].join(':'), () => addressText(address, port));
}

/** What an error of Node's sockets says about its address. */
function placeOf(error: Error): { readonly address: string | null; readonly port: number } {
  const address = 'address' in error && typeof error.address === 'string' ? error.address : null;
  const port = 'port' in error && typeof error.port === 'number' ? error.port : 0;
  return { address, port };
}
