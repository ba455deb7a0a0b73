/**
 * Instances of a service whose payload a schema checks, on reading and on writing. Used by service
 * discovery.
 */
import type { StandardSchema } from '../../api/codec.js';
import { InvalidDataError } from '../../api/errors.js';
import type { Log } from '../../api/logger.js';
import { checker } from '../../helpers/codecs.js';
import { decodeInstance, encodeInstance, type ServiceInstance } from './service-instance.js';
import { CorruptDataError } from './value-errors.js';

export interface PayloadOptions<P, In = P> {
  /**
   * A Standard Schema of the instances' payload, such as zod's; any JSON without one. Reading
   * returns the output of the schema.
   */
  readonly payload?: StandardSchema<In, P> | undefined;
}

export class Payloads<P, In> {
  readonly #check: ReturnType<typeof checker<P>> | null;

  /** Throws OptionError if it is not a schema. */
  constructor({ payload }: PayloadOptions<P, In>) {
    this.#check = payload === undefined ? null : checker(payload);
  }

  /** Throws InvalidDataError for a payload that could not be read again. */
  encode(instance: ServiceInstance<In>, path: string): Buffer {
    const data = encodeInstance(instance);
    this.#check?.(decodeInstance(path, data).payload, { path, direction: 'write' });
    return data;
  }

  /**
   * Throws CorruptDataError if the data is not an instance, and InvalidDataError if the schema
   * rejects the payload.
   */
  decode(path: string, data: Buffer | null): ServiceInstance<P> {
    const instance = decodeInstance(path, data);
    const { payload } = instance;
    // Without a schema P is any JSON, as the type parameters of service discovery say.
    if (this.#check === null) return { ...instance, payload: payload as P };
    return { ...instance, payload: this.#check(payload, { path, direction: 'read' }) };
  }
}

/** Returns no instance for data that is none, because one faulty znode must not hide the others. */
export function readableInstance<P>(
  payloads: Pick<Payloads<P, never>, 'decode'>,
  path: string,
  data: Buffer | null,
  log: Log,
): readonly ServiceInstance<P>[] {
  try {
    return [payloads.decode(path, data)];
  } catch (error) {
    if (!(error instanceof CorruptDataError || error instanceof InvalidDataError)) throw error;
    const message = `an instance is left out, as it cannot be read: ${path}`;
    log.warn('discovery.invalid_instance', message, { path, err: error });
    return [];
  }
}
