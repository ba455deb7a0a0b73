/**
 * The two functions by which an application gets a client.
 */
import type { Client } from './api/client.js';
import type { ConnectOptions } from './api/options.js';
import { SessionClient } from './client/session-client.js';
import { type CheckedOptions, checkedOptions } from './session/options-check.js';
import { SessionKeeper } from './session/session-keeper.js';
import { waitConnected } from './session/wait-connected.js';
import { WatchRegistry } from './watches/watch-registry.js';
import { parseConnectString } from './wire/connect-string.js';
import { resolverBySystem, socketDial } from './wire/dial.js';
import { HostList } from './wire/host-list.js';
import { WorkerLinks } from './worker/worker-link.js';

/**
 * Resolves with a client that has a session with the ensemble at "host1:2181,host2:2181/chroot".
 *
 * Rejects with OperationTimeoutError if there is no session within `connectDeadlineMs`; its cause
 * is the last obstacle. Rejects with OperationAbortedError if the `signal` option is aborted, with
 * ConnectStringError or OptionError for invalid arguments, with AuthFailedError if the ensemble
 * refuses a credential, and with SessionExpiredError if the session to resume is over and
 * `renewSession` is false. In all of these cases the client is closed.
 */
export async function connect(
  connectString: string,
  options: ConnectOptions = {},
): Promise<Client> {
  const checked = checkedOptions(options);
  const { client, keeper } = newClient(connectString, checked);
  const { signal } = options;
  try {
    const wait = signal === undefined ? {} : { signal };
    await waitConnected({ ...wait, timeoutMs: checked.connectDeadlineMs, keeper });
    return client;
  } catch (error) {
    await client.close();
    throw error;
  }
}

/**
 * Returns a client at once, in state 'connecting'. Its operations wait for the session until their
 * deadlines. Throws ConnectStringError and OptionError. Aborting the `signal` option closes the
 * client if there is no session yet.
 */
export function createClient(connectString: string, options: ConnectOptions = {}): Client {
  const { client, keeper } = newClient(connectString, checkedOptions(options));
  const { signal } = options;
  if (signal !== undefined) {
    waitConnected({ signal, timeoutMs: 0, keeper }).catch(() => client.close());
  }
  return client;
}

function newClient(
  connectString: string,
  options: CheckedOptions,
): { readonly client: Client; readonly keeper: SessionKeeper } {
  const { servers, chroot } = parseConnectString(connectString);
  const { surroundings, shuffle, keepAlive, frameBytesMax } = options;
  const tls = () => options.tls.forDial();
  const random = () => surroundings.random();
  const resolve = resolverBySystem((ms, callback) => surroundings.setTimer(ms, callback));
  const hosts = new HostList(servers, { resolve, shuffle, random });
  const registry = new WatchRegistry();
  const thread = options.worker;
  const links = thread === null ? null : new WorkerLinks({ thread, tls, keepAlive, frameBytesMax });
  const dial = links?.dial ?? socketDial({ tls, keepAlive });
  const keeper = new SessionKeeper({
    ...options,
    hosts,
    dial,
    registry,
    isLagProof: links !== null,
    onClosed: () => links?.close(),
  });
  const root = new SessionClient({ ...options, keeper, registry, dial });
  keeper.start();
  return { client: chroot === '' ? root : root.namespace(chroot), keeper };
}
