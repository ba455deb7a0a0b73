/**
 * Decodes the znodes of a cache with its codec, only when requested and once for each version. Data
 * that cannot be decoded is logged once, and does not affect other znodes.
 */
import type { Codec } from '../../api/codec.js';
import type { Log } from '../../api/logger.js';
import { bytes } from '../../helpers/codecs.js';
import type { CachedNode } from './cache-values.js';

export interface DecodingOptions<T> {
  /**
   * Determines how data is read as a value, for instance json(schema); without a codec, values are
   * the data.
   */
  readonly codec?: Pick<Codec<T>, 'parse'> | undefined;
}

type Decoded<T> = { readonly value: T } | { readonly error: unknown };

export class Decoder<T> {
  readonly #codec: Pick<Codec<T>, 'parse'>;
  readonly #log: Log;
  readonly #known = new WeakMap<CachedNode, Decoded<T>>();

  constructor({ codec }: DecodingOptions<T>, log: Log) {
    // Without a codec, T is the type of bytes, as the caches' type parameters say.
    this.#codec = codec ?? (bytes as Codec<unknown> as Codec<T>);
    this.#log = log;
  }

  /** Throws the errors of the codec. */
  value(node: CachedNode): T {
    const decoded = this.#decoded(node);
    if ('value' in decoded) return decoded.value;
    throw decoded.error;
  }

  /** The values by the nodes' keys, without those that cannot be decoded. */
  values(nodes: ReadonlyMap<string, CachedNode>): Map<string, T> {
    const values = new Map<string, T>();
    for (const [key, node] of nodes) {
      const decoded = this.#decoded(node);
      if ('value' in decoded) values.set(key, decoded.value);
    }
    return values;
  }

  #decoded(node: CachedNode): Decoded<T> {
    const known = this.#known.get(node);
    if (known !== undefined) return known;
    const decoded = this.#decode(node);
    this.#known.set(node, decoded);
    return decoded;
  }

  #decode({ path, data }: CachedNode): Decoded<T> {
    try {
      return { value: this.#codec.parse(data, path) };
    } catch (error) {
      const message = `the data of ${path} cannot be read by the cache's codec`;
      this.#log.warn('cache.invalid_data', message, { path, err: error });
      return { error };
    }
  }
}
