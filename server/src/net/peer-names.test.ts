/** Addresses outlive the process that learned them; a bad file costs nothing but a line. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ADDRESSES_FILE, PeerNames } from './peer-names.js';

const hangs = () => new Promise<readonly string[]>(() => undefined);
const silent = pino({ level: 'silent' });
/** A disk may be busy: the default is a second. */
const PATIENT = { timeout: 20_000 };

let directory: string;
let file: string;
const opened: PeerNames[] = [];
const newNames = (...of: ConstructorParameters<typeof PeerNames>): PeerNames => {
  const names = new PeerNames(...of);
  opened.push(names);
  return names;
};
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rookery-names-'));
  file = join(directory, ADDRESSES_FILE);
});
afterEach(async () => {
  for (const names of opened.splice(0)) await names.close();
  rmSync(directory, { recursive: true });
});

it('gives the addresses of an earlier run while a lookup hangs', async () => {
  const first = newNames(silent, async (name) => [`10.0.0.${name.length}`]);
  await first.keepIn(file);
  await Promise.all(['a', 'bb'].map((name) => first.resolve(name)));
  await vi.waitFor(() => {
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ a: ['10.0.0.1'], bb: ['10.0.0.2'] });
  }, PATIENT);
  const second = newNames(silent, hangs);
  await second.keepIn(file);
  expect(await second.resolve('bb')).toEqual(['10.0.0.2']);
});

it('keeps what the file says of other names when one was looked up before it was read', async () => {
  const content = { a: ['10.0.0.1'], bb: ['10.0.0.2'] };
  writeFileSync(file, JSON.stringify(content));
  const names = newNames(silent, async () => ['10.0.0.9']);
  await names.resolve('a');
  await names.keepIn(file);
  await vi.waitFor(() => {
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ ...content, a: ['10.0.0.9'] });
  }, PATIENT);
});

it('leaves its file alone once it is closed, and still looks names up', async () => {
  const names = newNames(silent, async () => ['10.0.0.9']);
  await names.keepIn(file);
  await names.resolve('a');
  await names.close();
  expect(readdirSync(directory)).toEqual([ADDRESSES_FILE]);
  expect(await names.resolve('bb')).toEqual(['10.0.0.9']);
  await names.close();
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ a: ['10.0.0.9'] });
});

it.each(['', '{', '[]', '{"a":["not an address"]}', '{"a":[]}', '{"a":"10.0.0.1"}'])(
  'starts without what the file says when that is %j, and tells of it',
  async (text) => {
    writeFileSync(file, text);
    const lines: string[] = [];
    const logger = pino({}, { write: (line) => lines.push(line) });
    const names = newNames(logger, async () => ['10.0.0.9']);
    await names.keepIn(file);
    expect(lines.join('')).toContain('net.addresses_unreadable');
    expect(await names.resolve('a')).toEqual(['10.0.0.9']);
  },
);

it('goes on when the file cannot be written, and tells of it', async () => {
  const lines: string[] = [];
  const logger = pino({}, { write: (line) => lines.push(line) });
  const names = newNames(logger, async () => ['10.0.0.9']);
  await names.keepIn(join(directory, 'missing', ADDRESSES_FILE));
  expect(await names.resolve('a')).toEqual(['10.0.0.9']);
  await vi.waitFor(() => expect(lines.join('')).toContain('net.addresses_unwritten'), PATIENT);
});

it('answers as the lookup of node:net does, for one address and for all', async () => {
  const names = newNames(silent, async (name) => {
    if (name === 'nobody') throw new Error('unknown');
    return ['10.0.0.1', '::1'];
  });
  const ask = (name: string, all: boolean) =>
    new Promise((resolve) => {
      names.lookup(name, { all }, (...answer) => resolve(answer));
    });
  expect(await ask('a', false)).toEqual([null, '10.0.0.1', 4]);
  const both = [
    { address: '10.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ];
  expect(await ask('a', true)).toEqual([null, both]);
  expect(await ask('nobody', false)).toEqual([new Error('unknown'), '']);
});
