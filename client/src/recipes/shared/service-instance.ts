/**
 * An instance of a service in the format of Curator's x-discovery: JSON with fixed fields. Unknown
 * fields are tolerated, and missing ones where Curator does so. Pure. Used by service discovery.
 */
import { CorruptDataError } from './value-errors.js';

/**
 * - `DYNAMIC`: is deleted with its client's session. `DYNAMIC_SEQUENTIAL`: the same, with a number
 *   after its znode's name, so that an id may be registered several times.
 * - `STATIC`: is deleted by unregister() and close(). `PERMANENT`: only by unregister().
 */
export type ServiceType = 'DYNAMIC' | 'DYNAMIC_SEQUENTIAL' | 'STATIC' | 'PERMANENT';

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

/** `P` is the type of the payload, by the schema of the service discovery if it has one. */
export interface ServiceInstance<P = Json> {
  /** The name of the service. */
  readonly name: string;
  /** Unique among the service's instances. */
  readonly id: string;
  readonly address: string | null;
  readonly port: number | null;
  readonly sslPort: number | null;
  /** Any JSON; for a Java reader an object with its class in `@class`. */
  readonly payload: P;
  /** Milliseconds since 1970. */
  readonly registrationTimeUTC: number;
  readonly serviceType: ServiceType;
  /** A template of URIs, in parts, as Curator's UriSpec. */
  readonly uriSpec: UriSpec | null;
  /** Whether providers may return it. */
  readonly enabled: boolean;
}

export interface UriSpec {
  readonly parts: readonly { readonly value: string; readonly variable: boolean }[];
}

/** The fields are in Curator's order. */
export function encodeInstance(instance: ServiceInstance<unknown>): Buffer {
  const { name, id, address, port, sslPort, payload } = instance;
  const { registrationTimeUTC, serviceType, uriSpec, enabled } = instance;
  const fields = { name, id, address, port, sslPort, payload };
  return Buffer.from(
    JSON.stringify({ ...fields, registrationTimeUTC, serviceType, uriSpec, enabled }),
  );
}

/**
 * Throws CorruptDataError if the data is not JSON, has no name or id, or has a field of the wrong
 * type.
 */
export function decodeInstance(path: string, data: Buffer | null): ServiceInstance {
  const fields = new Fields(path, parse(path, data));
  return {
    name: fields.string('name'),
    id: fields.string('id'),
    address: fields.stringOrNull('address'),
    port: fields.numberOrNull('port'),
    sslPort: fields.numberOrNull('sslPort'),
    payload: fields.json('payload'),
    registrationTimeUTC: fields.numberOrNull('registrationTimeUTC') ?? 0,
    serviceType: typeOf(fields.stringOrNull('serviceType')),
    uriSpec: fields.uriSpec('uriSpec'),
    enabled: fields.json('enabled') !== false,
  };
}

const SERVICE_TYPES = ['DYNAMIC', 'DYNAMIC_SEQUENTIAL', 'STATIC', 'PERMANENT'] as const;

/** Types of later versions are read as DYNAMIC, the usual one. */
function typeOf(text: string | null): ServiceType {
  return SERVICE_TYPES.find((type) => type === text) ?? 'DYNAMIC';
}

function parse(path: string, data: Buffer | null): unknown {
  try {
    return JSON.parse(data?.toString() ?? '');
  } catch (error) {
    throw new CorruptDataError(path, 'JSON of a service instance', { cause: error });
  }
}

class Fields {
  readonly #path: string;
  readonly #values: ReadonlyMap<string, unknown>;

  constructor(path: string, value: unknown) {
    this.#path = path;
    if (typeof value !== 'object' || value === null) throw this.#corrupt();
    this.#values = new Map(Object.entries(value));
  }

  string(name: string): string {
    const value = this.stringOrNull(name);
    if (value === null) throw this.#corrupt();
    return value;
  }

  stringOrNull(name: string): string | null {
    const value = this.#values.get(name) ?? null;
    if (value === null || typeof value === 'string') return value;
    throw this.#corrupt();
  }

  numberOrNull(name: string): number | null {
    const value = this.#values.get(name) ?? null;
    if (value === null || typeof value === 'number') return value;
    throw this.#corrupt();
  }

  json(name: string): Json {
    const value = this.#values.get(name) ?? null;
    return isJson(value) ? value : null;
  }

  uriSpec(name: string): UriSpec | null {
    const spec = this.#values.get(name) ?? null;
    if (spec === null) return null;
    const parts = new Fields(this.#path, spec).#values.get('parts');
    if (!Array.isArray(parts)) throw this.#corrupt();
    return {
      parts: parts.map((part: unknown) => {
        const fields = new Fields(this.#path, part);
        return { value: fields.string('value'), variable: fields.json('variable') === true };
      }),
    };
  }

  #corrupt(): CorruptDataError {
    return new CorruptDataError(this.#path, 'a service instance');
  }
}

/** Everything that JSON.parse returns is a Json value. */
function isJson(value: unknown): value is Json {
  return value !== undefined && typeof value !== 'function';
}
