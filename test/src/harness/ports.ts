/**
 * Free TCP ports on loopback, checked by binding them.
 *
 * They lie below the range from which the kernel takes the source ports of outgoing connections:
 * a port from inside it could be taken by any client, or connect to itself, in the moments in
 * which the member that owns it is dead.
 */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

const LOWEST_PORT = 12_000;
/** Linux starts its ephemeral ports at 32768. */
const HIGHEST_PORT = 32_000;

export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  let candidate = randomInt(LOWEST_PORT, HIGHEST_PORT);
  while (ports.length < count) {
    candidate = candidate >= HIGHEST_PORT ? LOWEST_PORT : candidate + 1;
    if (await isFree(candidate)) ports.push(candidate);
  }
  return ports;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      server.close(() => resolve(true));
    });
  });
}
