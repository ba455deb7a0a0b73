/** What `rookery health` requests, and from which address. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, onTestFinished, vi } from 'vitest';
import { runHealth, urlOf } from './health-command.js';

const folder = mkdtempSync(join(tmpdir(), 'rookery-health-'));
afterAll(() => rmSync(folder, { recursive: true }));

const ASKED = { live: false, timeoutMs: 1000 };

function configWith(server: object, settings: object = {}): string {
  const file = join(folder, 'c.json');
  const servers = [{ id: 1, host: '10.0.0.1', clientPort: 1, peerPort: 2, ...server }];
  writeFileSync(file, JSON.stringify({ dataDir: 'd', servers, ...settings }));
  return file;
}

it('asks the metrics port of the server in the file, or else its admin port', () => {
  const metrics = configWith({ metricsPort: 3, adminPort: 4 });
  expect(urlOf({ ...ASKED, config: metrics, id: 1 }).href).toBe(
    'http://10.0.0.1:3/readyz?verbose=',
  );
  const everywhere = configWith({ metricsPort: 3 }, { metricsHost: '0.0.0.0' });
  expect(urlOf({ ...ASKED, config: everywhere, id: 1 }).host).toBe('localhost:3');
  const admin = configWith({ adminPort: 4 }, { adminHost: '::1' });
  expect(urlOf({ ...ASKED, live: true, config: admin, id: 1, exclude: 'storage' }).href).toBe(
    'http://[::1]:4/livez?verbose=&exclude=storage',
  );
});

it('refuses options that give no address, or two', () => {
  expect(() => urlOf(ASKED)).toThrow('give --config and --id, or --url');
  expect(() => urlOf({ ...ASKED, url: 'http://h:1', id: 1 })).toThrow('already determines');
  expect(() => urlOf({ ...ASKED, url: 'h:1' })).toThrow('expected http://host:port');
  expect(() => urlOf({ ...ASKED, config: configWith({}), id: 1 })).toThrow('neither a metricsPort');
});

it('shows what would move the cursor in an answer as its number', async () => {
  const server = createServer((_, answer) => answer.end('[+]storage ok\u001b[2J\n'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  onTestFinished(() => write.mockRestore());
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  expect(await runHealth({ ...ASKED, url: `http://127.0.0.1:${port}` })).toBe(0);
  expect(write.mock.calls.map(([text]) => text)).toEqual(['[+]storage ok\\u001b[2J\n']);
});
