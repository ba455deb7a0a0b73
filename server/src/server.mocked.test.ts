/** What the start and the stop of a server wait for, where the disk is full or slow. */
import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { rename, statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { loadConfig } from './config/config.js';
import { ADDRESSES_FILE } from './net/peer-names.js';
import { startServer } from './server.js';
import { keptLog } from './simulated/net/fixtures.js';

vi.mock('node:dns/promises', () => ({ lookup: async () => [{ address: '127.0.0.2' }] }));
vi.mock('node:fs/promises', { spy: true });

const logger = pino({ level: 'silent' });

let directory: string;
let release: () => void;
/** Resolves when the file of addresses is being written; it is held from then on. */
let writing: Promise<void>;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'rookery-server-'));
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { rename: rightAway } =
    await vi.importActual<typeof import('node:fs/promises')>('node:fs/promises');
  writing = new Promise((resolve) => {
    vi.mocked(rename).mockImplementation(async (from, to) => {
      if (String(to).endsWith(ADDRESSES_FILE)) {
        resolve();
        await held;
      }
      await rightAway(from, to);
    });
  });
});
afterEach(() => {
  vi.mocked(rename).mockReset();
  vi.mocked(statfs).mockReset();
  rmSync(directory, { recursive: true });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('it had a port');
  return address.port;
}

/** The files in the directory that this process has open. */
function openFiles(): readonly string[] {
  const targets = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return '';
    }
  });
  return targets.filter((target) => target.startsWith(directory));
}

it.runIf(process.platform === 'linux')(
  'a server has stopped once the file of addresses, which was being written, has its name',
  async () => {
    const file = join(directory, 'ensemble.json');
    const [clientPort, peerPort] = [await freePort(), await freePort()];
    const servers = [
      { id: 1, host: '127.0.0.1', clientPort, peerPort },
      { id: 2, host: 'other.test', clientPort: 2181, peerPort: 2888 },
    ];
    writeFileSync(
      file,
      JSON.stringify({ dataDir: join(directory, 'data'), servers, peerAuth: 'none' }),
    );
    const server = await startServer(loadConfig(file, 1), { id: 1, logger, found: false });
    await writing;
    expect(openFiles().length).toBeGreaterThan(0);
    let hasStopped = false;
    const stopped = server.close().then(() => {
      hasStopped = true;
    });
    // The stores are closed, so nothing else is left to wait for.
    await vi.waitFor(() => expect(openFiles()).toEqual([]), { timeout: 60_000 });
    await new Promise((resolve) => setImmediate(resolve));
    expect(hasStopped).toBe(false);
    release();
    await stopped;
    await server.closed;
    const names = readdirSync(join(directory, 'data', '1'));
    expect(names.filter((name) => name.startsWith(ADDRESSES_FILE))).toEqual([ADDRESSES_FILE]);
  },
);

it('a server makes nothing on a disk without room, can be stopped meanwhile, and starts with room', async () => {
  const file = join(directory, 'ensemble.json');
  const [clientPort, peerPort] = [await freePort(), await freePort()];
  const servers = [{ id: 1, host: '127.0.0.1', clientPort, peerPort }];
  writeFileSync(file, JSON.stringify({ dataDir: join(directory, 'data'), servers }));
  const found = await statfs(directory);
  vi.mocked(statfs).mockImplementation(async () => Object.assign(found, { bavail: 1 }));
  const { logger: kept, lines } = keptLog();
  const stop = new AbortController();
  const start = (signal?: AbortSignal) =>
    startServer(loadConfig(file, 1), { id: 1, logger: kept, found: false }, signal);
  const stopped = start(stop.signal);
  const waits = () => lines.some(({ msg }) => String(msg).startsWith('start.waits_for_room: '));
  await vi.waitFor(() => expect(waits()).toBe(true), { timeout: 60_000 });
  stop.abort('SIGTERM');
  await expect(stopped).rejects.toBe('SIGTERM');
  expect(existsSync(join(directory, 'data'))).toBe(false);
  const starting = start();
  vi.mocked(statfs).mockReset();
  const server = await starting;
  await server.close();
  await server.closed;
});
