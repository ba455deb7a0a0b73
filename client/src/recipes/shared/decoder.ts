/**
 * What a cache's codec makes of the znodes that it holds: decoded once for each version of each,
 * when it is asked for. What cannot be decoded is told in the log once, and must not hide the rest.
 */
import type { Codec } from '../../api/codec.js';
import type { Log } from '../../api/logger.js';
import { bytes } from '../../helpers/codecs.js';
import type { CachedNode } from './cache-values.js';

export interface DecodingOptions<T> {
  /** How data is read as a value, by json(schema) for one; without it values are the data. */
  readonly codec?: Pick<Codec<T>, 'parse'> | undefined;
}

type Decoded<T> = { readonly value: T } | { readonly error: unknown };

export class Decoder<T> {
  readonly #codec: Pick<Codec<T>, 'parse'>;
  readonly #log: Log;
  readonly #known = new WeakMap<CachedNode, Decoded<T>>();

  constructor({ codec }: DecodingOptions<T>, log: Log) {
    // Without a codec T is what the bytes are read as, as the caches' type parameters say.
    this.#codec = codec ?? (bytes as Codec<unknown> as Codec<T>);
    this.#log = log;
  }

  /** Throws what the codec does. */
  value(node: CachedNode): T {
    const decoded = this.#decoded(node);
    if ('value' in decoded) return decoded.value;
    throw decoded.error;
  }

  /** By the nodes' keys, without what cannot be decoded. */
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
