/**
 * The transport of a member that knows the others by their names: each dial first resolves the
 * address, as in production, with a resolver that may hang.
 */
import { NameLookups } from '@rookery/protocol';
import type {
  Address,
  ByteStream,
  Chunks,
  Listener,
  ListenOptions,
  OnStream,
  Timers,
  Transport,
} from '../../simulated.js';

/**
 * Longer than the time after which a query counts as hanging; a system's resolver takes 10 s and
 * more.
 */
const HANGS_MS = 3_000;
/** An answer that comes in time. */
const ANSWERS_MS = 0.2;

export interface Resolver {
  readonly timers: Timers;
  /** Addresses by name from earlier processes of the machine, kept up to date. */
  readonly known: Map<string, readonly string[]>;
  readonly isHanging: () => boolean;
}

export class ResolvingTransport implements Transport {
  readonly #inner: Transport;
  readonly #timers: Timers;
  readonly #names: NameLookups;

  constructor(inner: Transport, { timers, known, isHanging }: Resolver) {
    this.#inner = inner;
    this.#timers = timers;
    this.#names = new NameLookups({
      lookup: (name) =>
        new Promise((resolve, reject) => {
          if (isHanging()) timers.after(HANGS_MS, () => reject(new Error(`no answer for ${name}`)));
          else timers.after(ANSWERS_MS, () => resolve([name]));
        }),
      after: (ms, callback) => {
        const timer = timers.after(ms, callback);
        return () => timer.cancel();
      },
      onChange: (all) => {
        for (const [name, addresses] of all) known.set(name, addresses);
      },
    });
    this.#names.remember(known);
  }

  listen(address: Address, onStream: OnStream, options?: ListenOptions): Promise<Listener> {
    return this.#inner.listen(address, onStream, options);
  }

  dial({ host, port }: Address, timeoutMs: number, chunks?: Chunks): Promise<ByteStream> {
    return new Promise((resolve, reject) => {
      let isOver = false;
      const limit = this.#timers.after(timeoutMs, () => {
        isOver = true;
        reject(new Error(`${host} has no address after ${timeoutMs} ms`));
      });
      const dialled = this.#names.resolve(host).then(([address = host]) => {
        limit.cancel();
        if (isOver) throw new Error('too late');
        return this.#inner.dial({ host: address, port }, timeoutMs, chunks);
      });
      dialled.then(resolve, (error: unknown) => {
        limit.cancel();
        reject(error instanceof Error ? error : new Error(String(error)));
      });
    });
  }
}
