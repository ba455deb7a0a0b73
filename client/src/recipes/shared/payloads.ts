/**
 * Instances of a service with the payload that its schema wants: checked when they are read and
 * when they are written. Pure. Used by service discovery.
 */
import type { StandardSchema } from '../../api/codec.js';
import { checker } from '../../helpers/codecs.js';
import { decodeInstance, encodeInstance, type ServiceInstance } from './service-instance.js';

export interface PayloadOptions<P, In = P> {
  /**
   * A Standard Schema of the instances' payload, such as zod's; any JSON without one. What it makes
   * of a payload is what is read.
   */
  readonly payload?: StandardSchema<In, P> | undefined;
}

export class Payloads<P, In> {
  readonly #check: ReturnType<typeof checker<P>> | null;

  /** OptionError for what is no schema. */
  constructor({ payload }: PayloadOptions<P, In>) {
    this.#check = payload === undefined ? null : checker(payload);
  }

  /** InvalidDataError for a payload that could not be read again. */
  encode(instance: ServiceInstance<In>, path: string): Buffer {
    const data = encodeInstance(instance);
    this.#check?.(decodeInstance(path, data).payload, { path, direction: 'write' });
    return data;
  }

  /** CorruptDataError for what is no instance, InvalidDataError for another payload. */
  decode(path: string, data: Buffer | null): ServiceInstance<P> {
    const instance = decodeInstance(path, data);
    const { payload } = instance;
    // Without a schema P is what JSON gives, as the type parameters of service discovery say.
    if (this.#check === null) return { ...instance, payload: payload as P };
    return { ...instance, payload: this.#check(payload, { path, direction: 'read' }) };
  }
}
