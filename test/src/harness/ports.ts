/**
 * Free TCP ports on loopback, checked by binding them.
 *
 * They lie below the range from which the kernel takes the source ports of outgoing connections:
 * any client could take a port from inside it, or connect to itself, while the member that owns it
 * is dead. For the same reason, processes that run side by side take their ports from different
 * blocks: each claims its block by listening on the first port of it until the process ends.
 * vitest's worker number cannot be used: where one group of projects follows another, two of its
 * workers can have the same VITEST_POOL_ID (seen with 4.1.12).
 */
import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';

const LOWEST_PORT = 12_000;
/** The last block ends below 32000; Linux starts its ephemeral ports at 32768. */
const BLOCKS = 40;
const BLOCK_PORTS = 500;

/** The unused ports of the block that was claimed last. */
let next = 0;
let end = 0;

/**
 * One process hands out no port twice, because a member may not be listening yet, or only while it
 * leads. Throws if all blocks are claimed.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    if (next >= end) await claimBlock();
    const port = next;
    next += 1;
    if (await isFree(port)) ports.push(port);
  }
  return ports;
}

async function claimBlock(): Promise<void> {
  const offset = randomInt(BLOCKS);
  for (let index = 0; index < BLOCKS; index += 1) {
    const first = LOWEST_PORT + ((offset + index) % BLOCKS) * BLOCK_PORTS;
    const claim = await listenOn(first);
    if (claim === null) continue;
    claim.unref();
    next = first + 1;
    end = first + BLOCK_PORTS;
    return;
  }
  throw new Error(`all ${BLOCKS} blocks of ports from ${LOWEST_PORT} are held by test processes`);
}

async function isFree(port: number): Promise<boolean> {
  const server = await listenOn(port);
  if (server === null) return false;
  await new Promise((resolve) => server.close(resolve));
  return true;
}

/** Null if somebody else has the port. */
function listenOn(port: number): Promise<Server | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(null));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => resolve(server));
  });
}
