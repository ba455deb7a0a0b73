/**
 * Free TCP ports on loopback, checked by binding them.
 *
 * They lie below the range from which the kernel takes the source ports of outgoing connections:
 * a port from inside it could be taken by any client, or connect to itself, in the moments in
 * which the member that owns it is dead. Test files that run side by side take theirs from
 * different parts of the range, for the same reason; and what was given once is given again only
 * when the whole part was: a member may not listen yet, or only while it leads.
 */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** At least as many as there are workers of vitest's that run test files side by side. */
const PARTS = 4;
const PART_PORTS = 5_000;
/** The last part ends at 32000; Linux starts its ephemeral ports at 32768. */
const LOWEST_PORT =
  12_000 + ((Number(process.env['VITEST_POOL_ID'] ?? 1) - 1) % PARTS) * PART_PORTS;
const HIGHEST_PORT = LOWEST_PORT + PART_PORTS - 1;

/** The one that was looked at last. */
let candidate = randomInt(LOWEST_PORT, HIGHEST_PORT);

export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = candidate >= HIGHEST_PORT ? LOWEST_PORT : candidate + 1;
    candidate = port;
    if (await isFree(port)) ports.push(port);
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
