/**
 * The view that `client.with({ codec })` returns, for znodes whose data are values of one kind. It
 * owns nothing and uses the client that it wraps.
 */
import { BadVersionError, NodeExistsError, NoNodeError } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import type { Codec } from '../api/codec.js';
import type {
  Created,
  CreateOptions,
  OperationOptions,
  Stat,
  VersionOptions,
  WatchedReadOptions,
} from '../api/values.js';
import type { TypedClient, TypedNode } from '../api/views.js';

export class CodecClient<T, In> implements TypedClient<T, In> {
  readonly #client: Client;
  readonly #codec: Codec<T, In>;

  constructor(client: Client, codec: Codec<T, In>) {
    this.#client = client;
    this.#codec = codec;
  }

  async create(path: string, value: In, options?: CreateOptions): Promise<Created> {
    return await this.#client.create(path, this.#codec.format(value, path), options);
  }

  async getData(path: string, options?: WatchedReadOptions): Promise<TypedNode<T>> {
    const { data, stat } = await this.#client.getData(path, options);
    return { value: this.#codec.parse(data, path), stat };
  }

  async setData(path: string, value: In, options?: VersionOptions): Promise<Stat> {
    return await this.#client.setData(path, this.#codec.format(value, path), options);
  }

  async update(
    path: string,
    change: (present: T | undefined) => In,
    options?: OperationOptions,
  ): Promise<In> {
    // A round is lost only to a write of another client, so somebody always makes progress.
    for (;;) {
      const present = await this.#read(path, options);
      const value = change(present?.value);
      try {
        if (present === null) await this.create(path, value, options);
        else await this.setData(path, value, { ...options, version: present.stat.version });
        return value;
      } catch (error) {
        const isRace =
          error instanceof BadVersionError ||
          (present === null ? error instanceof NodeExistsError : error instanceof NoNodeError);
        if (!isRace) throw error;
      }
    }
  }

  async #read(path: string, options: OperationOptions | undefined): Promise<TypedNode<T> | null> {
    try {
      return await this.getData(path, options);
    } catch (error) {
      if (error instanceof NoNodeError) return null;
      throw error;
    }
  }
}
