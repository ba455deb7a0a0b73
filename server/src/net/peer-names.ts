/**
 * Addresses of the other members' names, kept in a file from one run to the next.
 *
 * Node gives lookups two threads, and a lookup cannot be cancelled: with a name server that does
 * not answer, two names that hang would keep every other one from being looked up for 20 seconds
 * and more, again and again. `NameLookups` (in @rookery/protocol) prevents that, and sees to it
 * that the address that a member had last is dialled meanwhile; the file makes that true for a
 * member that restarts, too. The file only saves time: one that is missing, unreadable or cannot be
 * written is no failure.
 */
import { lookup as lookUp } from 'node:dns/promises';
import { readFile, rename } from 'node:fs/promises';
import { isIP, type LookupFunction } from 'node:net';
import { NameLookups } from '@rookery/protocol';
import type { Logger } from 'pino';
import { z } from 'zod';
import { openNewFile } from '../security/own-file.js';

/** Name of the file in a member's directory. */
export const ADDRESSES_FILE = 'addresses.json';

const KNOWN = z.record(z.string(), z.array(z.string().refine((text) => isIP(text) !== 0)).min(1));
type SystemLookup = (name: string) => Promise<readonly string[]>;
type Known = ReadonlyMap<string, readonly string[]>;

export class PeerNames {
  readonly #logger: Logger;
  readonly #names: NameLookups;
  #file: string | null = null;
  #unwritten: Known | null = null;
  #isClosed = false;
  #writing: Promise<void> | null = null;

  constructor(logger: Logger, lookup: SystemLookup = bySystem) {
    this.#logger = logger;
    this.#names = new NameLookups({
      lookup,
      after: (ms, callback) => {
        const timer = setTimeout(callback, ms);
        timer.unref();
        return () => clearTimeout(timer);
      },
      onChange: (known) => {
        this.#unwritten = known;
        this.#write();
      },
    });
  }

  /** Takes over what an earlier run wrote to `file`, and keeps it up to date. Never rejects. */
  async keepIn(file: string): Promise<void> {
    const text = await readFile(file, 'utf8').catch(() => null);
    try {
      const earlier = new Map(Object.entries(KNOWN.parse(JSON.parse(text ?? '{}'))));
      this.#names.remember(earlier);
      // Names that were looked up before the file was read.
      if (this.#unwritten !== null) this.#unwritten = new Map([...earlier, ...this.#unwritten]);
    } catch (error) {
      this.#logger.warn({ file, err: error }, 'net.addresses_unreadable');
    }
    this.#file = file;
    this.#write();
  }

  /** Begins no further write; resolves when the last one has ended. Names are still looked up. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#writing;
  }

  /** Addresses of a name, at least one; rejects when it has none or the lookup fails. */
  resolve(name: string): Promise<readonly string[]> {
    return this.#names.resolve(name);
  }

  /** The same as an option of `net.connect`. */
  readonly lookup: LookupFunction = (name, options, callback) => {
    this.resolve(name).then(
      (addresses) => {
        const all = addresses.map((address) => ({ address, family: isIP(address) }));
        const [first] = all;
        if (options.all === true) callback(null, all);
        else callback(null, first?.address ?? '', first?.family);
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), ''),
    );
  };

  #write(): void {
    if (this.#isClosed || this.#file === null || this.#unwritten === null) return;
    this.#writing ??= this.#writeTo(this.#file);
  }

  /**
   * Writes until the file has all that is known, or is closed. Something is unwritten when it is
   * called, so it does not end before `#writing` is set. Never rejects.
   */
  async #writeTo(file: string): Promise<void> {
    try {
      for (let known = this.#unwritten; known !== null; known = this.#unwritten) {
        if (this.#isClosed) return;
        this.#unwritten = null;
        await replaceWith(file, `${JSON.stringify(Object.fromEntries(known))}\n`);
      }
    } catch (error) {
      this.#logger.warn({ file, err: error }, 'net.addresses_unwritten');
    } finally {
      this.#writing = null;
    }
  }
}

async function replaceWith(file: string, text: string): Promise<void> {
  const part = await openNewFile(`${file}.new`);
  try {
    await part.writeFile(text);
  } finally {
    await part.close();
  }
  await rename(`${file}.new`, file);
}

async function bySystem(name: string): Promise<readonly string[]> {
  const found = await lookUp(name, { all: true });
  return found.map(({ address }) => address);
}
