/**
 * Reads of an accepted socket that go into memory of the caller's, by a private part of Node.
 *
 * What it does: otherwise Node allocates memory outside of the JavaScript heap for each read, and
 * at some hundred thousand reads a second that alone triggers full collections. `net.connect` has
 * the option `onread` against that, `net.createServer` has none. So the accepted socket's handle
 * (`_handle`, a private property) is given to a new socket that has the option.
 *
 * What happens without it: if a release of Node has no such property, the accepted socket stays as
 * it is. Nothing but the speed of reads depends on it.
 */
import net from 'node:net';

/**
 * Returns a paused socket in place of the accepted one. The accepted one is destroyed when the new
 * one closes, because the listener counts it. Returns null, and changes nothing, if Node has no
 * such handle.
 */
export function lendingSocket(accepted: net.Socket, onread: net.OnReadOpts): net.Socket | null {
  const handle: unknown = Reflect.get(accepted, '_handle');
  if (typeof handle !== 'object' || handle === null) return null;
  Reflect.set(accepted, '_handle', null);
  const options = { handle, allowHalfOpen: true, manualStart: true, onread };
  const socket = new net.Socket(options);
  socket.once('close', () => accepted.destroy());
  return socket;
}
