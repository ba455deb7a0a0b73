/**
 * Checks the ports of an ensemble on this machine: whether they are free before it starts, and
 * whether a member serves on its client port.
 */
import { createServer } from 'node:net';
import {
  type Config,
  clientAddressOf,
  type ListenAddress,
  metricsHostOf,
  OperatorError,
  peerAddressOf,
  type ServerAddress,
  secureClientAddressOf,
} from '@rookery/server';
import { askWord } from '../status/four-letter-word.js';

/** The ports that a member opens, by their use. */
export function listenersOf(
  server: ServerAddress,
  config: Pick<Config, 'adminHost' | 'metricsHost'>,
): ReadonlyMap<string, ListenAddress> {
  const { metricsPort, adminPort } = server;
  const secure = secureClientAddressOf(server);
  const ports = new Map([['client', clientAddressOf(server)]]);
  if (secure !== null) ports.set('secure client', secure);
  ports.set('peer', peerAddressOf(server));
  if (metricsPort !== undefined) {
    ports.set('metrics', { host: metricsHostOf(config, server), port: metricsPort });
  }
  if (adminPort !== undefined) ports.set('admin', { host: config.adminHost, port: adminPort });
  return ports;
}

/** Throws an OperatorError that names every port of the servers on which nothing can listen. */
export async function requireFreePorts(
  ensemble: Pick<Config, 'servers' | 'adminHost' | 'metricsHost'>,
): Promise<void> {
  const problems: string[] = [];
  for (const server of ensemble.servers) {
    for (const [use, { host: hosts, port }] of listenersOf(server, ensemble)) {
      for (const host of [hosts].flat()) {
        const code = await listenError(host, port);
        if (code === null) continue;
        const reason = code === 'EADDRINUSE' ? 'is in use' : `cannot be listened on (${code})`;
        problems.push(`port ${port} of ${host}, the ${use} port of member ${server.id}, ${reason}`);
      }
    }
  }
  if (problems.length > 0) throw new OperatorError(problems.join('\n  '));
}

type Service = 'down' | 'waiting' | 'serving';

/**
 * Asks a member whether it serves. A config that disables `srvr` leaves no way to tell; a member
 * that answers so then counts as serving. Whatever answers anything else is no member.
 */
export async function serviceOf(address: ServerAddress, timeoutMs: number): Promise<Service> {
  const { host: hosts, port } = clientAddressOf(address);
  const [host = ''] = [hosts].flat();
  const asked = { host: host === '*' ? 'localhost' : host, port };
  const reply = await askWord(asked, 'srvr', timeoutMs).catch(() => null);
  if (reply === null) return 'down';
  const serves = reply.includes('Mode: ') || reply.includes('not in the whitelist');
  if (serves) return 'serving';
  return reply.includes('not currently serving') ? 'waiting' : 'down';
}

/** Returns the system's error code if nothing can listen there. */
export function listenError(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    probe.listen({ ...(host === '*' ? {} : { host }), port, exclusive: true }, () =>
      probe.close(() => resolve(null)),
    );
  });
}
