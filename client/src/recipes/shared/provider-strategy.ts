/**
 * Strategies that select the next instance of a service, as plain functions, and the exclusion of
 * instances that were reported as down, like Curator's DownInstancePolicy. No I/O; the caller
 * supplies the time. Used by the service provider.
 */
import type { Json, ServiceInstance } from './service-instance.js';

/**
 * Selects one of the instances, which are sorted by id; null if there is none. It may keep state
 * between calls.
 */
export type ProviderStrategy<P = Json> = (
  instances: readonly ServiceInstance<P>[],
) => ServiceInstance<P> | null;

/** Selects one after the other. */
export function roundRobin<P = Json>(): ProviderStrategy<P> {
  let next = 0;
  return (instances) => {
    if (instances.length === 0) return null;
    const instance = instances[next % instances.length] ?? null;
    next = (next + 1) % Number.MAX_SAFE_INTEGER;
    return instance;
  };
}

/**
 * Selects any, all with the same probability. `random` returns numbers from 0 (inclusive) to 1
 * (exclusive).
 */
export function randomly<P = Json>(random: () => number = Math.random): ProviderStrategy<P> {
  return (instances) => instances[Math.floor(random() * instances.length)] ?? null;
}

/** Selects always the same one, chosen by another strategy, until it is gone. */
export function sticky<P = Json>(choose: ProviderStrategy<P> = roundRobin()): ProviderStrategy<P> {
  let chosenId: string | null = null;
  return (instances) => {
    const chosen = instances.find(({ id }) => id === chosenId) ?? choose(instances);
    chosenId = chosen?.id ?? null;
    return chosen;
  };
}

export interface DownInstancePolicy {
  /**
   * How long the errors of an instance count, from the first of them, in milliseconds; default
   * 30,000. After that it is no longer excluded.
   */
  readonly timeoutMs?: number | undefined;
  /** The number of errors after which it is excluded; default 2. */
  readonly errorThreshold?: number | undefined;
}

const TIMEOUT_MS_DEFAULT = 30_000;
const ERROR_THRESHOLD_DEFAULT = 2;

export class DownInstances {
  readonly #timeoutMs: number;
  readonly #errorThreshold: number;
  /** The time of the first error, and the number of errors. */
  readonly #errors = new Map<string, { readonly sinceMs: number; count: number }>();

  constructor(policy: DownInstancePolicy = {}) {
    this.#timeoutMs = policy.timeoutMs ?? TIMEOUT_MS_DEFAULT;
    this.#errorThreshold = policy.errorThreshold ?? ERROR_THRESHOLD_DEFAULT;
  }

  noteError(id: string, nowMs: number): void {
    this.#forgetOld(nowMs);
    const errors = this.#errors.get(id);
    if (errors === undefined) this.#errors.set(id, { sinceMs: nowMs, count: 1 });
    else errors.count += 1;
  }

  isDown(id: string, nowMs: number): boolean {
    this.#forgetOld(nowMs);
    return (this.#errors.get(id)?.count ?? 0) >= this.#errorThreshold;
  }

  #forgetOld(nowMs: number): void {
    for (const [id, { sinceMs }] of this.#errors) {
      if (nowMs - sinceMs >= this.#timeoutMs) this.#errors.delete(id);
    }
  }
}
