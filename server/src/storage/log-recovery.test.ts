/** What a start makes of a log: lost files, foreign ones, and what is left in their space. */
import { makeZxid, type Zxid } from '@rookery/protocol';
import { beforeEach, describe, expect, it } from 'vitest';
import { seededRandom } from '../simulated/seeded-random.js';
import { MemoryLogDirectory } from '../simulated/storage/memory-log.js';
import { MemoryStore } from '../simulated/storage/memory-store.js';
import { type Opened, openToy, proposalsAfter } from '../simulated/storage/toy-state.js';
import { DamagedError } from './errors.js';
import { decodeHeader, encodeHeader, RECORDS_START } from './log-segment.js';

let random = seededRandom(1);
let disk = { treeStore: new MemoryStore(), logFiles: new MemoryLogDirectory() };
let counter = 1;
beforeEach(() => {
  random = seededRandom(1);
  disk = { treeStore: new MemoryStore(), logFiles: new MemoryLogDirectory() };
  counter = 1;
});

function crash(): void {
  disk = { treeStore: disk.treeStore.crash(random), logFiles: disk.logFiles.crash(random) };
}

async function restart(): Promise<Opened> {
  crash();
  return await openToy(disk);
}

async function founded(): Promise<Opened> {
  const opened = await openToy(disk);
  const epochs = { accepted: 9, current: 9, ensembleId: 'e', founded: true };
  await opened.storage.saveEpochs(epochs);
  return opened;
}

async function append({ storage }: Opened, epoch = 1): Promise<void> {
  await storage.append([proposalsAfter(storage.last, { epoch, counter, count: 1 })]);
  counter += 1;
  await storage.idle();
}

/** The segments that were begun, oldest first. */
function begun(): readonly string[] {
  const headers = disk.logFiles
    .names()
    .map((name) => ({ name, header: headerOf(name) }))
    .filter(({ header }) => header !== null);
  return headers
    .sort((a, b) => (a.header?.seq ?? 0) - (b.header?.seq ?? 0))
    .map(({ name }) => name);
}

function headerOf(name: string) {
  return decodeHeader(disk.logFiles.bytesOf(name).subarray(0, RECORDS_START));
}

async function appendUntil(segments: number): Promise<Opened> {
  const opened = await founded();
  while (begun().length < segments) await append(opened);
  return opened;
}

async function zxidsOf({ storage }: Opened): Promise<readonly Zxid[]> {
  const zxids: Zxid[] = [];
  for await (const chunk of storage.readHistory(storage.base, storage.last)) {
    for (const { zxid } of chunk) zxids.push(zxid);
  }
  return zxids;
}

describe('a lost segment is noticed', () => {
  it.each([0, 1, 2])('with all from number %d on', async (index) => {
    await appendUntil(3);
    crash();
    for (const name of begun().slice(index)) await disk.logFiles.remove(name);
    expect((await restart()).recovered.damaged).toMatch(/the log,? is missing/);
  });

  it.each([0, 1, 2])('when number %d has lost both copies of its header', async (index) => {
    await appendUntil(3);
    crash();
    disk.logFiles.tamper(begun()[index] ?? '', (bytes) => bytes.fill(0, 0, RECORDS_START));
    expect((await restart()).recovered.damaged).toMatch(/has lost its header/);
  });

  it('when it was begun after a crash', async () => {
    const opened = await appendUntil(1);
    await append(opened);
    await append(await restart());
    crash();
    const [, second = ''] = begun();
    await disk.logFiles.remove(second);
    expect((await restart()).recovered.damaged).toMatch(/is missing/);
  });

  it('when it is empty, and was begun by a truncation', async () => {
    const opened = await appendUntil(2);
    await opened.storage.truncate(makeZxid(1, 2));
    await opened.storage.idle();
    crash();
    await disk.logFiles.remove(begun().at(-1) ?? '');
    expect((await restart()).recovered.damaged).toMatch(/is missing/);
  });
});

/** From now on, these bytes of the file cannot be read. */
function spoilSector(name: string, start: number): void {
  const { logFiles } = disk;
  const open = logFiles.open.bind(logFiles);
  logFiles.open = async (opened) => {
    const file = await open(opened);
    const read = file.read.bind(file);
    return Object.assign(file, {
      read: async (offset: number, length: number) => {
        const holdsIt = offset < start + 512 && offset + length > start;
        if (opened === name && holdsIt) throw new DamagedError(`${name} cannot be read`);
        return await read(offset, length);
      },
    });
  };
}

describe('a sector that cannot be read', () => {
  it.each([0, RECORDS_START / 2])(
    'at %d, of one copy of a header, loses nothing',
    async (start) => {
      const opened = await appendUntil(2);
      const { last } = opened.storage;
      crash();
      spoilSector(begun().at(-1) ?? '', start);
      expect((await openToy(disk)).recovered).toMatchObject({ damaged: null, last });
    },
  );

  it('is damage where a start needs it', async () => {
    await appendUntil(2);
    crash();
    spoilSector(begun()[0] ?? '', RECORDS_START);
    expect((await openToy(disk)).recovered.damaged).toMatch(/cannot be read/);
  });

  it('is something, where the meta record is lost', async () => {
    await founded();
    crash();
    disk.treeStore.tamper('meta', (entries) => entries.clear());
    disk.logFiles.tamper('0-0.log', (bytes) => Buffer.concat([bytes, Buffer.alloc(512)]));
    spoilSector('0-0.log', RECORDS_START);
    expect((await openToy(disk)).recovered.damaged).toMatch(/meta record is missing/);
  });
});

describe('a segment that was begun right before a crash', () => {
  it('is the newest for good: a later start without it knows that it is lost', async () => {
    const opened = await appendUntil(1);
    for (let count = 0; count < 3; count++) await append(opened);
    const [before, later] = [disk.treeStore.crash(random), disk.treeStore.crash(random)];
    disk = { treeStore: before, logFiles: disk.logFiles.crash(random) };
    await (await openToy(disk)).storage.truncate(makeZxid(1, 1));
    // The header was written, and the record of meta was not.
    disk.treeStore = later;
    expect((await restart()).recovered).toMatchObject({ damaged: null, last: makeZxid(1, 1) });
    await restart();
    await disk.logFiles.remove(begun().at(-1) ?? '');
    expect((await restart()).recovered.damaged).toMatch(/the newest part of the log, is missing/);
  });

  it('has both copies of its header after the next start', async () => {
    await founded();
    await restart();
    disk.logFiles.tamper('0-0.log', (bytes) => bytes.fill(0, 0, RECORDS_START / 2));
    expect((await restart()).recovered.damaged).toBe(null);
    disk.logFiles.tamper('0-0.log', (bytes) => bytes.fill(0, RECORDS_START / 2, RECORDS_START));
    expect((await restart()).recovered.damaged).toBe(null);
  });
});

describe('a removal', () => {
  it('is waited for by nobody who appends', async () => {
    const { storage } = await appendUntil(3);
    const { logFiles } = disk;
    logFiles.remove = () => new Promise(() => undefined);
    await storage.truncate(makeZxid(1, 1));
    counter = 1;
    for (const before = begun().length; begun().length < before + 2; counter++) {
      await storage.append([proposalsAfter(storage.last, { epoch: 2, counter, count: 1 })]);
    }
  });
});

describe('what is no file of the log', () => {
  it('does not make a founding that was interrupted look like a loss', async () => {
    await founded();
    crash();
    disk.treeStore.tamper('meta', (entries) => entries.clear());
    disk.treeStore.setFounding('incomplete');
    await (await disk.logFiles.create('notes')).close();
    expect((await openToy(disk)).recovered.damaged).toBe(null);
    expect(disk.logFiles.names()).toContain('notes');
  });
});

describe('a file of the log', () => {
  it('that was made ahead, and not begun, is gone with nothing lost', async () => {
    const opened = await founded();
    while (disk.logFiles.names().length < 2) await append(opened);
    const last = opened.storage.last;
    expect(begun()).toEqual(['0-0.log']);
    const { recovered } = await restart();
    expect(recovered).toMatchObject({ damaged: null, last });
    expect(disk.logFiles.names()).toEqual(['0-0.log']);
  });

  it('that nobody has begun is gone, whatever its number, and the log goes on', async () => {
    const opened = await appendUntil(1);
    await append(opened);
    await restart();
    await (await disk.logFiles.create('0-77.log')).close();
    const again = await restart();
    expect(again.recovered.damaged).toBe(null);
    await append(again);
    expect(disk.logFiles.names()).not.toContain('0-77.log');
    expect((await restart()).recovered).toMatchObject({ damaged: null, last: makeZxid(1, 2) });
  });

  it('is written by the process that began it and by no other', async () => {
    let before = new Map<string, Uint8Array>();
    let opened = await founded();
    for (let life = 0; life < 4; life++) {
      await append(opened);
      for (const [name, bytes] of before) {
        expect(Buffer.compare(disk.logFiles.bytesOf(name), bytes), name).toBe(0);
      }
      opened = await restart();
      before = new Map(begun().map((name) => [name, disk.logFiles.bytesOf(name)]));
      expect(before.size).toBe(life + 1);
    }
  });

  it('keeps what a truncation made void, and no start takes it for the log', async () => {
    const opened = await appendUntil(1);
    for (let count = 0; count < 3; count++) await append(opened);
    const [name = ''] = begun();
    const before = disk.logFiles.bytesOf(name);
    await opened.storage.truncate(makeZxid(1, 1));
    expect(Buffer.compare(disk.logFiles.bytesOf(name), before)).toBe(0);
    for (let life = 0; life < 3; life++) {
      const again = await restart();
      expect(again.recovered.last).toBe(makeZxid(1, 1));
      expect(await zxidsOf(again)).toEqual([makeZxid(1, 1)]);
    }
    counter = 1;
    await append(await restart(), 2);
    const again = await restart();
    expect(again.recovered.last).toBe(makeZxid(2, 1));
    expect(await zxidsOf(again)).toEqual([makeZxid(1, 1), makeZxid(2, 1)]);
  });

  it('may hold whole records of one that was there before it', async () => {
    const opened = await appendUntil(1);
    for (let count = 0; count < 3; count++) await append(opened);
    const [name = ''] = begun();
    const stale = disk.logFiles.bytesOf(name);
    await opened.storage.truncate(0);
    await opened.storage.idle();
    await restart();
    // What was truncated lies in the space of the newest, as the next thing it would hold.
    const newest = begun().at(-1) ?? '';
    disk.logFiles.tamper(newest, (bytes) =>
      Buffer.concat([bytes.subarray(0, RECORDS_START), stale.subarray(RECORDS_START)]),
    );
    const { recovered } = await restart();
    expect(recovered).toMatchObject({ damaged: null, last: 0 });
  });

  it('that another one says it follows holds what that one goes on after', async () => {
    await appendUntil(2);
    await restart();
    const [, second = ''] = begun();
    const header = headerOf(second);
    if (header === null) throw new Error('it has a header');
    for (const base of [header.base - 1, header.base + 1]) {
      const bytes = disk.logFiles.bytesOf(second);
      disk.logFiles.tamper(second, () =>
        Buffer.concat([encodeHeader({ ...header, base }), bytes.subarray(RECORDS_START)]),
      );
      const { recovered } = await restart();
      expect(recovered.damaged).toMatch(/gap|does not hold|wrong checksum, or is missing/);
      disk.treeStore = disk.treeStore.crash(random);
      disk.logFiles.tamper(second, () => bytes);
    }
  });
});
