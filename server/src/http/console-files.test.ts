/** The files of the console: what a browser is given of a built one, and that it is told apart. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, it, onTestFinished } from 'vitest';
import { ConsoleFiles } from './console-files.js';
import { HttpError, type HttpRequest } from './http-port.js';

const REQUEST: HttpRequest = {
  method: 'GET',
  path: '/',
  query: new URLSearchParams(),
  headers: {},
  remoteAddress: '',
  signal: new AbortController().signal,
  readBody: () => Promise.reject(new Error('no body is read')),
};
const SCRIPT = `console.log('${'x'.repeat(1000)}');`;

function useConsole() {
  const parent = mkdtempSync(join(tmpdir(), 'rookery-console-'));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const directory = join(parent, 'web');
  mkdirSync(join(directory, 'assets'), { recursive: true });
  writeFileSync(join(parent, 'secret.txt'), 'secret');
  writeFileSync(join(directory, 'index.html'), '<script src="assets/app-1234.js"></script>');
  writeFileSync(join(directory, 'assets/app-1234.js'), SCRIPT);
  writeFileSync(join(directory, 'assets/app-1234.js.map'), '{}');
  symlinkSync(join(parent, 'secret.txt'), join(directory, 'secret-link.txt'));
  const now = { ms: 0 };
  return { directory, now, files: new ConsoleFiles(directory, () => now.ms) };
}

function get(files: ConsoleFiles, path: string, headers: Record<string, string> = {}) {
  return files.answer({ ...REQUEST, path, headers });
}

async function statusOf(asked: Promise<unknown>): Promise<number> {
  return await asked.then(
    () => 200,
    (error) => (error instanceof HttpError ? error.status : 0),
  );
}

it('gives the page anew each time, and what has a hash in its name to be kept', async () => {
  const { files } = useConsole();
  const page = await get(files, '/console/');
  expect(page).toMatchObject({ status: 200, type: 'text/html;charset=utf-8' });
  expect(page.headers?.['cache-control']).toBe('no-cache');
  const script = await get(files, '/console/assets/app-1234.js');
  expect(script).toMatchObject({ status: 200, type: 'text/javascript;charset=utf-8' });
  expect(script.headers?.['cache-control']).toContain('immutable');
  for (const { headers } of [page, script]) {
    expect(headers?.['content-security-policy']).toContain("script-src 'self';");
    expect(headers?.['content-security-policy']).not.toMatch(/unsafe|https?:|\*/);
    expect(headers?.['referrer-policy']).toBe('no-referrer');
  }
  const redirected = await get(files, '/console');
  expect([redirected.status, redirected.headers?.['location']]).toEqual([308, 'console/']);
});

it('compresses for who takes that, and for nobody else', async () => {
  const { files } = useConsole();
  const ask = (encoding?: string) => {
    const headers = encoding === undefined ? {} : { 'accept-encoding': encoding };
    return get(files, '/console/assets/app-1234.js', headers);
  };
  const small = await ask('gzip, deflate, br');
  expect(small.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
  expect(gunzipSync(small.body as Uint8Array).toString()).toBe(SCRIPT);
  for (const encoding of [undefined, 'identity', 'br', 'gzip;q=0', 'gzip; q=0.0, br']) {
    const plain = await ask(encoding);
    expect(plain.headers?.['content-encoding'], encoding).toBeUndefined();
    expect(Buffer.from(plain.body as Uint8Array).toString()).toBe(SCRIPT);
  }
  // Both are made once, however many ask.
  expect((await ask('gzip')).body).toBe(small.body);
});

it('gives nothing but the files of the console', async () => {
  const { files } = useConsole();
  for (const name of [
    ...['../secret.txt', '..%2fsecret.txt', 'assets/../../secret.txt', '/etc/passwd', 'assets'],
    ...[
      'assets/',
      'secret-link.txt',
      'assets/app-1234.js.map',
      'index.html/',
      'none.js',
      '.',
      '\0',
    ],
  ]) {
    expect(await statusOf(get(files, `/console/${name}`)), name).toBe(404);
  }
  const posted = files.answer({ ...REQUEST, method: 'POST', path: '/console/' });
  expect(await statusOf(posted)).toBe(405);
});

it('shows a new build, and says when there is none', async () => {
  const { directory, now, files } = useConsole();
  await get(files, '/console/assets/app-1234.js');
  rmSync(join(directory, 'assets/app-1234.js'));
  writeFileSync(join(directory, 'assets/app-5678.js'), 'new');
  writeFileSync(join(directory, 'index.html'), '<script src="assets/app-5678.js"></script>');
  utimesSync(join(directory, 'index.html'), 1, 1);
  now.ms += 1000;
  const page = await get(files, '/console/');
  expect(Buffer.from(page.body as Uint8Array).toString()).toContain('app-5678');
  expect(await statusOf(get(files, '/console/assets/app-5678.js'))).toBe(200);
  expect(await statusOf(get(files, '/console/assets/app-1234.js'))).toBe(404);
  rmSync(directory, { recursive: true });
  now.ms += 1000;
  expect(await statusOf(get(files, '/console/'))).toBe(404);
  const missing = new ConsoleFiles(null, () => 0);
  await expect(get(missing, '/console/')).rejects.toThrow('npm run build');
});
