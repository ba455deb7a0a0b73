/**
 * The record that says who a member is, which epochs it knows and which generation is live.
 *
 * Both epochs, the ensemble and the generation are one value in one key, so no crash separates
 * them. Every change writes it under two keys, one after the other, each synced: damage of the
 * newest batch on disk looks like a write that never was (write-ahead-scan.ts), and so the batch
 * before it must say the same. One writer at a time: the storage's ordered operations.
 */
import { z } from 'zod';
import { DamagedError, FormatError } from './errors.js';
import type { KeyValueDatabase, KeyValueStore } from './key-value.js';
import { sealJson, unsealJson } from './records.js';

export const META_NAME = 'meta';
export const FORMAT_VERSION = 4;

const META_SCHEMA = z.object({
  format: z.literal(FORMAT_VERSION),
  memberId: z.number().int().min(1),
  ensembleId: z.string(),
  founded: z.boolean(),
  acceptedEpoch: z.number().int().min(0),
  currentEpoch: z.number().int().min(0),
  /** The tree and the log of this generation are the member's; all others are garbage. */
  generation: z.number().int().min(0),
  /** Why this member needs a snapshot; kept until one is installed. */
  damaged: z.string().nullable(),
});

export type Meta = Readonly<z.infer<typeof META_SCHEMA>>;

const META_KEY = new TextEncoder().encode('meta');
const COPY_KEY = new TextEncoder().encode('meta-copy');
/** `change` counts the changes: the greater one of two records is the newer. */
const RECORD_SCHEMA = META_SCHEMA.extend({ change: z.number().int().min(0).default(0) });
const ANY_FORMAT = z.object({ format: z.number() });

type MetaRecord = Readonly<z.infer<typeof RECORD_SCHEMA>>;

export class MetaStore {
  private readonly database: KeyValueDatabase;
  private change = 0;

  private constructor(database: KeyValueDatabase) {
    this.database = database;
  }

  static async open(store: KeyValueStore): Promise<MetaStore> {
    return new MetaStore(await store.open(META_NAME));
  }

  /**
   * The newest one; null when there is none. Nobody may act on it before both records say it: the
   * other one is written again where it does not. Throws DamagedError or FormatError.
   */
  async read(): Promise<Meta | null> {
    const first = await this.record(META_KEY);
    const second = await this.record(COPY_KEY);
    const newest = newestOf(first, second);
    if (newest === null) return null;
    const { change, ...meta } = newest;
    this.change = change;
    for (const [key, record] of [[META_KEY, first] as const, [COPY_KEY, second] as const]) {
      if (isRecord(record) && record.change === change) continue;
      await this.put(key, newest);
    }
    return meta;
  }

  /** Resolves when both records are durable. */
  async write(meta: Meta): Promise<void> {
    this.change += 1;
    const record = { ...meta, change: this.change };
    await this.put(META_KEY, record);
    await this.put(COPY_KEY, record);
  }

  async close(): Promise<void> {
    await this.database.close();
  }

  private async record(key: Uint8Array): Promise<Found> {
    const sealed = await this.database.get(key);
    if (sealed === undefined) return null;
    try {
      const { format } = unsealJson('the meta record', key, sealed, ANY_FORMAT);
      if (format === FORMAT_VERSION) {
        return unsealJson('the meta record', key, sealed, RECORD_SCHEMA);
      }
      throw new FormatError(
        `the data has format ${format}, this version reads ${FORMAT_VERSION}: run the version ` +
          'that wrote it, or empty the directories of this member alone and let it sync',
      );
    } catch (error) {
      if (error instanceof DamagedError) return error;
      throw error;
    }
  }

  private async put(key: Uint8Array, record: MetaRecord): Promise<void> {
    const put = { type: 'put', key, value: sealJson(key, record) } as const;
    await this.database.batch([put], { sync: true });
  }
}

type Found = MetaRecord | DamagedError | null;

function isRecord(found: Found): found is MetaRecord {
  return found !== null && !(found instanceof DamagedError);
}

/** Null when neither was ever written; throws when what there is cannot be read. */
function newestOf(first: Found, second: Found): MetaRecord | null {
  if (isRecord(first)) return isRecord(second) && second.change > first.change ? second : first;
  if (isRecord(second)) return second;
  if (first !== null) throw first;
  if (second !== null) throw second;
  return null;
}
