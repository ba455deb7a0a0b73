/**
 * Checks the ports of an ensemble on this machine: whether they are free before it starts, and
 * whether a member serves on its client port.
 */
import { connect, createServer } from 'node:net';
import { clientAddressOf, OperatorError, peerAddressOf, type ServerAddress } from '@rookery/server';

/** Longer than any answer to `srvr`; the answers to some other words have no such bound. */
const REPLY_LENGTH_MAX = 64 * 1024;

/** Throws an OperatorError that names every port of the servers on which nothing can listen. */
export async function requireFreePorts(ensemble: {
  readonly servers: readonly ServerAddress[];
  readonly adminHost: string;
}): Promise<void> {
  const problems: string[] = [];
  for (const server of ensemble.servers) {
    const { adminPort } = server;
    const ports = {
      client: clientAddressOf(server),
      peer: peerAddressOf(server),
      ...(adminPort === undefined ? {} : { admin: { host: ensemble.adminHost, port: adminPort } }),
    };
    for (const [use, { host: hosts, port }] of Object.entries(ports)) {
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

export type Service = 'down' | 'waiting' | 'serving';

/**
 * Asks a member whether it serves. A config that disables `srvr` leaves no way to tell; a member
 * that answers so then counts as serving. Whatever answers anything else is no member.
 */
export async function serviceOf(address: ServerAddress, timeoutMs: number): Promise<Service> {
  const reply = await fourLetterWord(address, 'srvr', timeoutMs);
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

/**
 * Returns the reply, or null if there is no answer in time. Other commands send words by `askWord`;
 * this one goes to the host on which the member listens, and why there is no answer is not needed.
 */
function fourLetterWord(
  address: ServerAddress,
  word: string,
  timeoutMs: number,
): Promise<string | null> {
  return new Promise((resolve) => {
    let reply = '';
    const { host: hosts, port } = clientAddressOf(address);
    const [host = ''] = [hosts].flat();
    const dialled = host === '*' ? 'localhost' : host;
    const socket = connect({ host: dialled, port, timeout: timeoutMs });
    socket.setEncoding('latin1');
    socket.on('connect', () => socket.write(word));
    socket.on('data', (chunk) => {
      reply += chunk;
      if (reply.length > REPLY_LENGTH_MAX) socket.destroy();
    });
    socket.on('timeout', () => socket.destroy());
    // The event 'close' follows and reports it.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => resolve(reply === '' ? null : reply));
  });
}
