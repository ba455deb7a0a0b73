/**
 * Stores the record of a member's identity, its epochs, and its live generation.
 *
 * Its format number guards the whole directory: a release that does not know it touches nothing. A
 * field that is added must be optional, as older directories do not have it. Both epochs, the
 * ensemble and the generation are one value in one key, so no crash separates them. Every change
 * writes it under two keys, one after the other, each synced: damage of the newest batch on disk
 * looks like a write that never was (level-files.ts), and so the batch before it must say the same.
 * `MetaStore` reads and writes it, `KeptMeta` has its current value and orders its changes, and
 * `StartsRecord` is its part about starts.
 */
import { z } from 'zod';
import { LEVEL } from '../state/level.js';
import type { Background } from './background.js';
import { DISK_FORMAT, wrongFormat } from './data-directory.js';
import { DamagedError } from './errors.js';
import type { KeyValueDatabase, KeyValueStore } from './key-value.js';
import { jsonWithChecksum, verifiedJson } from './records.js';

export const META_NAME = 'meta';
const NO_START = { incarnation: '', count: 0, instances: [] };

const META_SCHEMA = z.object({
  memberId: z.number().int().min(1),
  ensembleId: z.string(),
  founded: z.boolean(),
  acceptedEpoch: z.number().int().min(0),
  currentEpoch: z.number().int().min(0),
  /** The tree and the log of this generation are the member's; all others are garbage. */
  generation: z.number().int().min(0),
  /** Why this member needs a snapshot; kept until one is installed. */
  damaged: z.string().nullable(),
  /**
   * The highest ensemble level that the directory's owner has reached: a release that does not know
   * it must not start here.
   */
  level: z.number().int().min(LEVEL.first).default(LEVEL.first),
  /** Absent in a directory that never served. */
  servedWith: z
    .object({
      lists: z.array(z.array(z.number().int()).readonly()).readonly(),
      peerTimeoutMs: z.number(),
    })
    .optional(),
  /** The newest segment of the log that was begun. */
  logSeq: z.number().int().min(0),
  /** The log of this generation has reached this zxid: one that ends before has lost something. */
  recordedZxid: z.number().int().min(0).default(0),
  /** The start of this directory, as in `StartOf`. */
  start: z
    .object({
      incarnation: z.string(),
      count: z.number().int(),
      /** The processes of the starts since the member last served, this one included. */
      instances: z.array(z.string()).default([]),
    })
    .default(NO_START),
  /** The last start of each other member that this one has seen. */
  seenStarts: z
    .array(
      z.object({
        peer: z.number().int(),
        incarnation: z.string(),
        count: z.number().int(),
        instance: z.string(),
      }),
    )
    .default([]),
  /** The leaderships that proposed the content of tree and log: see zab/lineage.ts. */
  lineage: z.array(z.object({ epoch: z.number().int(), identity: z.number().int() })).default([]),
});

export type Meta = Readonly<z.infer<typeof META_SCHEMA>>;

const META_KEY = new TextEncoder().encode('meta');
const COPY_KEY = new TextEncoder().encode('meta-copy');
/** `change` counts the changes: the greater one of two records is the newer. */
const RECORD_SCHEMA = META_SCHEMA.extend({
  format: z.literal(DISK_FORMAT),
  change: z.number().int().min(0).default(0),
});
const ANY_FORMAT = z.object({ format: z.number() });

type MetaRecord = Readonly<z.infer<typeof RECORD_SCHEMA>>;

export class MetaStore {
  readonly #store: KeyValueStore;
  #database: KeyValueDatabase;
  #change = 0;

  private constructor(store: KeyValueStore, database: KeyValueDatabase) {
    this.#store = store;
    this.#database = database;
  }

  static async open(store: KeyValueStore): Promise<MetaStore> {
    return new MetaStore(store, await store.open(META_NAME));
  }

  /**
   * The newest one; null when there is none. It must not be acted on before both records hold it,
   * so the other one is rewritten if it differs. Throws DamagedError or FormatError.
   */
  async read(): Promise<Meta | null> {
    const first = await this.#record(META_KEY);
    const second = await this.#record(COPY_KEY);
    const newest = newestOf(first, second);
    if (newest === null) return null;
    const { change, format: _, ...meta } = newest;
    this.#change = change;
    for (const [key, record] of [[META_KEY, first] as const, [COPY_KEY, second] as const]) {
      if (isRecord(record) && record.change === change) continue;
      await this.#put(key, newest);
    }
    return meta;
  }

  /** Resolves when both records are durable. */
  async write(meta: Meta): Promise<void> {
    this.#change += 1;
    const record = { ...meta, format: DISK_FORMAT, change: this.#change } as const;
    await this.#put(META_KEY, record);
    await this.#put(COPY_KEY, record);
  }

  /** Reads all of it, while it may be written. Throws DamagedError. */
  async check(): Promise<void> {
    for await (const _ of this.#database.checkFiles());
    for await (const entries of this.#database.iterate({})) {
      for (const [key, stored] of entries) parsed(key, stored);
    }
    for (const key of [META_KEY, COPY_KEY]) {
      if ((await this.#record(key)) === null) throw new DamagedError('a meta record is missing');
    }
  }

  /**
   * Puts a new database in the place of a damaged one. A crash in between leaves none, which
   * a start takes for damage: see recovery.ts.
   */
  async writeAnew(meta: Meta): Promise<void> {
    await this.#database.close();
    await this.#store.destroy(META_NAME);
    this.#database = await this.#store.open(META_NAME);
    await this.write(meta);
  }

  async close(): Promise<void> {
    await this.#database.close();
  }

  async #record(key: Uint8Array): Promise<Found> {
    const stored = await this.#database.get(key);
    if (stored === undefined) return null;
    try {
      return parsed(key, stored);
    } catch (error) {
      if (error instanceof DamagedError) return error;
      throw error;
    }
  }

  async #put(key: Uint8Array, record: MetaRecord): Promise<void> {
    const put = { type: 'put', key, value: jsonWithChecksum(key, record) } as const;
    await this.#database.batch([put], { sync: true });
  }
}

/** Throws DamagedError or FormatError. */
function parsed(key: Uint8Array, stored: Uint8Array): MetaRecord {
  const { format } = verifiedJson('the meta record', key, stored, ANY_FORMAT);
  if (format !== DISK_FORMAT) throw wrongFormat('the meta record', format);
  return verifiedJson('the meta record', key, stored, RECORD_SCHEMA);
}

type Found = MetaRecord | DamagedError | null;

function isRecord(found: Found): found is MetaRecord {
  return found !== null && !(found instanceof DamagedError);
}

/** Null if neither was ever written. Throws if what there is cannot be read. */
function newestOf(first: Found, second: Found): MetaRecord | null {
  if (isRecord(first)) return isRecord(second) && second.change > first.change ? second : first;
  if (isRecord(second)) return second;
  if (first !== null) throw first;
  if (second !== null) throw second;
  return null;
}

export class KeptMeta {
  readonly #store: MetaStore;
  readonly #background: Background;
  #value: Meta;
  #isKnown: boolean;
  #writes: Promise<void> = Promise.resolve();

  /** `isKnown` is false if the record was lost; then nothing overwrites it before a `change`. */
  constructor(store: MetaStore, background: Background, value: Meta, isKnown: boolean) {
    this.#store = store;
    this.#background = background;
    this.#value = value;
    this.#isKnown = isKnown;
  }

  get value(): Meta {
    return this.#value;
  }
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** Changes the record. Durable when resolved. */
  async change(change: Partial<Meta>): Promise<void> {
    this.#writes = this.#writes.then(async () => {
      await this.#store.write({ ...this.#value, ...change });
      // What was remembered during the write stays, and the next write makes it durable.
      this.#value = { ...this.#value, ...change };
      this.#isKnown = true;
    });
    await this.#writes;
  }

  /** Changes the value at once and makes it durable in background; a crash may lose it before. */
  remember(change: Partial<Meta>): void {
    this.#value = { ...this.#value, ...change };
    if (this.#isKnown) this.#background.run(() => this.change({}));
  }

  /** Reads what is on disk. Throws DamagedError. */
  async check(): Promise<void> {
    await this.#store.check();
  }

  /** Writes the record into a new database, after the changes before it. Durable when resolved. */
  async writeAnew(): Promise<void> {
    this.#writes = this.#writes.then(() => this.#store.writeAnew(this.#value));
    await this.#writes;
  }

  async close(): Promise<void> {
    await this.#store.close();
  }
}

/** The number of starts without serving that are kept. */
const STARTS_KEPT = 16;

export interface StartsSetup {
  /** The identity of this process, as in `StartOf`. */
  readonly instance: string;
  /** Makes a new, unique incarnation of the directory. */
  newIncarnation(): string;
}

export class StartsRecord {
  readonly #meta: KeptMeta;
  readonly #setup: StartsSetup | null;

  /** Starts are counted only with a setup. */
  constructor(meta: KeptMeta, setup: StartsSetup | null) {
    this.#meta = meta;
    this.#setup = setup;
  }

  /** The start of this directory, which is durable since it was opened. */
  get start(): Meta['start'] {
    return this.#meta.value.start;
  }
  get seenStarts(): Meta['seenStarts'] {
    return this.#meta.value.seenStarts;
  }

  /** Counts this start, unless the meta record is lost and must not be overwritten yet. */
  async countStart(): Promise<void> {
    if (this.#setup === null || !this.#meta.isKnown) return;
    const { incarnation, count, instances } = this.start;
    const recent = [...instances, this.#setup.instance].slice(-STARTS_KEPT);
    const next = { incarnation, count: count + 1, instances: recent };
    await this.#meta.change({ start: incarnation === '' ? this.first() : next });
  }

  /** Begins another incarnation. */
  first(): Meta['start'] {
    if (this.#setup === null) return { incarnation: '', count: 1, instances: [] };
    const { instance } = this.#setup;
    return { incarnation: this.#setup.newIncarnation(), count: 1, instances: [instance] };
  }

  /** Remembers a start in background. A crash may lose it before it is durable. */
  rememberStart(seen: Meta['seenStarts'][number]): void {
    const others = this.seenStarts.filter(({ peer }) => peer !== seen.peer);
    this.#meta.remember({ seenStarts: [...others, seen] });
  }

  /** Begins another incarnation in background, like `rememberStart`. */
  countStartsAnew(): void {
    this.#meta.remember({ start: this.first() });
  }

  /**
   * In background: this member serves, so what the directory holds is the ensemble's history by
   * now, and no start up to this one is compared any more with what was seen of another copy.
   */
  forgetEarlierStarts(): void {
    const { start } = this;
    if (start.instances.length > 0) this.#meta.remember({ start: { ...start, instances: [] } });
  }
}
