/**
 * Goal: a byte that changes in a small file of a data directory is found and mended while the
 * member runs, or a start copes with it; and every kind of file is thought of.
 * Method: real directories; each kind of file has a line below that says what is expected.
 */
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openToy, proposalsAfter, proposalsIn } from '../simulated/storage/toy-state.js';
import { DamagedError, FormatError, IdentityError } from './errors.js';
import { openStores } from './stores.js';

const COUNT = 9;

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rookery-small-'));
});
afterEach(() => rm(directory, { recursive: true }));

function stores() {
  return openStores({ dataDir: directory, dataLogDir: directory, memberId: 1 });
}

/** A directory of a member that has logged something, was stopped, and started again. */
async function fill(): Promise<void> {
  for (const first of [1, 1 + COUNT]) {
    const { storage } = await openToy(await stores());
    await storage.saveEpochs({ accepted: 1, current: 0, ensembleId: '', founded: false });
    const at = { epoch: 1, counter: first, count: COUNT };
    await storage.append([proposalsAfter(storage.last, at)]);
    await storage.markLogEnd();
    await storage.close();
  }
}

/** The files with something in them, by their path below the member's directory. */
function filesIn(): readonly string[] {
  const root = join(directory, '1');
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .filter((name) => readFileSync(join(root, name)).length > 0)
    .sort();
}

const pathOf = (name: string) => join(directory, '1', name);

function flip(name: string, at: number): void {
  const bytes = readFileSync(pathOf(name));
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(pathOf(name), bytes);
}

describe('the marks of a running member', () => {
  it.each([
    ['tree/member.json', 0],
    ['log/member.json', 1],
  ])('%s is written again, whichever byte has changed', async (name, index) => {
    await fill();
    const { storage } = await openToy(await stores());
    const record = storage.known[index];
    const text = readFileSync(pathOf(name), 'utf8');
    for (let at = 0; at < text.length; at++) {
      await record?.check();
      flip(name, at);
      await expect(record?.check()).rejects.toThrow(DamagedError);
      await record?.writeAnew();
      expect(readFileSync(pathOf(name), 'utf8')).toBe(text);
    }
    await rm(pathOf(name));
    await expect(record?.check()).rejects.toThrow(DamagedError);
    await record?.writeAnew();
    await storage.close();
    expect(readFileSync(pathOf(name), 'utf8')).toBe(text);
    expect(readdirSync(pathOf(name.replace('/member.json', '')))).not.toContain('member.json.new');
  });
});

/** What a start may say after a byte has changed: nothing at all, or else that there is damage. */
const KINDS: readonly (readonly [file: RegExp, said: readonly Said[]])[] = [
  [/^(tree|log)\/member\.json$/, ['sound', 'refused']],
  [/^(tree|log)\/lock\//, ['sound']],
  [/\/LOG(\.old)?$/, ['sound']],
  [/^tree\/(meta|tree-\d+)\/(CURRENT|MANIFEST-\d+|\d+\.(ldb|log))$/, ['sound', 'damaged']],
  [/^log\/\d+-\d+\.log$/, ['sound', 'damaged']],
  [/^log\/spare-\d+$/, ['sound']],
];

type Said = 'sound' | 'damaged' | 'refused';

async function start(): Promise<Said> {
  try {
    const { storage, recovered } = await openToy(await stores());
    await storage.close();
    if (recovered.damaged !== null) return 'damaged';
    expect(proposalsIn(recovered.suffix).length).toBe(2 * COUNT);
    return 'sound';
  } catch (error) {
    if (error instanceof FormatError || error instanceof IdentityError) return 'refused';
    throw error;
  }
}

describe('a start after a byte has changed in a file', () => {
  it('loses nothing unnoticed, whatever the kind of file', async () => {
    await fill();
    const root = join(directory, '1');
    const sound = join(directory, 'sound');
    cpSync(root, sound, { recursive: true });
    for (const name of filesIn()) {
      const [, allowed] = KINDS.find(([file]) => file.test(name)) ?? [];
      const { length } = readFileSync(pathOf(name));
      for (const at of new Set([0, length >> 1, length - 1])) {
        flip(name, at);
        // No line for a kind of file means that nobody has thought of it.
        expect(allowed, `${name}, byte ${at}`).toContain(await start());
        await rm(root, { recursive: true });
        cpSync(sound, root, { recursive: true });
      }
    }
  }, 240_000);
});
