/**
 * The one record that says who a member is, which epochs it knows and which generation is live.
 *
 * Both epochs, the ensemble and the generation are one value in one key, so no crash separates
 * them. Every write is synced. One writer at a time: the storage's ordered operations.
 */
import { z } from 'zod';
import { FormatError } from './errors.js';
import type { KeyValueDatabase, KeyValueStore } from './key-value.js';
import { sealJson, unsealJson } from './records.js';

export const META_NAME = 'meta';
export const FORMAT_VERSION = 1;

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
const ANY_FORMAT = z.object({ format: z.number() });

export class MetaStore {
  private readonly database: KeyValueDatabase;

  private constructor(database: KeyValueDatabase) {
    this.database = database;
  }

  static async open(store: KeyValueStore): Promise<MetaStore> {
    return new MetaStore(await store.open(META_NAME));
  }

  /** Null when there is none; throws DamagedError or FormatError. */
  async read(): Promise<Meta | null> {
    const sealed = await this.database.get(META_KEY);
    if (sealed === undefined) return null;
    const { format } = unsealJson('the meta record', META_KEY, sealed, ANY_FORMAT);
    if (format !== FORMAT_VERSION) {
      throw new FormatError(`the data has format ${format}, this version reads ${FORMAT_VERSION}`);
    }
    return unsealJson('the meta record', META_KEY, sealed, META_SCHEMA);
  }

  async write(meta: Meta): Promise<void> {
    const put = { type: 'put', key: META_KEY, value: sealJson(META_KEY, meta) } as const;
    await this.database.batch([put], { sync: true });
  }

  async close(): Promise<void> {
    await this.database.close();
  }
}
