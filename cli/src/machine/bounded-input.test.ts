/** Files that never end, pipes that never begin, and standard input that does neither. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import {
  BoundedLines,
  INPUT_BYTES_MAX,
  readFileWithin,
  readStreamWithin,
} from './bounded-input.js';

const never = new AbortController().signal;

async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'bounded-input-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  return directory;
}

it('reads a file up to the bound and not beyond', async () => {
  const file = join(await temporaryDirectory(), 'file');
  await writeFile(file, 'x'.repeat(100_000));
  expect(await readFileWithin(file, { bytesMax: 100_000, signal: never })).toHaveLength(100_000);
  const read = readFileWithin(file, { bytesMax: 99_999, signal: never });
  await expect(read).rejects.toThrow(`${file} has more than 99999 bytes`);
  await expect(readFileWithin('/', { bytesMax: 1, signal: never })).rejects.toThrow('EISDIR');
});

it.runIf(process.platform === 'linux')('reads no device for ever', async () => {
  const read = readFileWithin('/dev/zero', { bytesMax: 1 << 20, signal: never });
  await expect(read).rejects.toThrow('/dev/zero has more than 1048576 bytes');
  expect(await readFileWithin('/dev/null', { bytesMax: 1, signal: never })).toHaveLength(0);
});

it.runIf(process.platform === 'linux')('a pipe is read to its end, or until Ctrl-C', async () => {
  const pipe = join(await temporaryDirectory(), 'pipe');
  execFileSync('mkfifo', [pipe]);
  const stopping = new AbortController();
  const endless = readFileWithin(pipe, { bytesMax: 10, signal: stopping.signal });
  stopping.abort(new Error('Ctrl-C'));
  await expect(endless).rejects.toThrow('Ctrl-C');
  const read = readFileWithin(pipe, { bytesMax: 10, signal: never });
  const writer = spawn('sh', ['-c', 'printf 12345 > "$0"', pipe]);
  onTestFinished(() => void writer.kill());
  expect(`${await read}`).toBe('12345');
});

it('standard input has the same bound, and Ctrl-C ends the wait for it', async () => {
  const bounds = { what: 'Standard input', bytesMax: 4, signal: never };
  expect(`${await readStreamWithin(Readable.from(['12', '34']), bounds)}`).toBe('1234');
  const read = readStreamWithin(Readable.from(['12', '345']), bounds);
  await expect(read).rejects.toThrow('Standard input has more than 4 bytes');
  const stopping = new AbortController();
  const silent = readStreamWithin(new PassThrough(), { ...bounds, signal: stopping.signal });
  stopping.abort(new Error('Ctrl-C'));
  await expect(silent).rejects.toThrow('Ctrl-C');
});

it('lines end before one that is too long', async () => {
  const short = Readable.from([Buffer.from('a\nb\n')]).pipe(new BoundedLines());
  expect(await text(short)).toBe('a\nb\n');
  short.requireWhole();
  const part = Buffer.alloc(1 << 20, 'x');
  function* endless() {
    yield Buffer.from('a\n');
    for (let bytes = 0; bytes <= 2 * INPUT_BYTES_MAX; bytes += part.length) yield part;
  }
  const long = Readable.from(endless()).pipe(new BoundedLines());
  let bytes = 0;
  for await (const chunk of long) bytes += chunk.length;
  expect(bytes).toBe(2 + INPUT_BYTES_MAX);
  expect(() => long.requireWhole()).toThrow('A line of standard input has more than');
});
