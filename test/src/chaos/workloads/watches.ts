/**
 * Watches miss nothing, and no read shows a value older than a reported change.
 *
 * Two writers change a few znodes. Watchers follow each znode by one-shot watches (read, wait, read
 * again), follow all of them by one persistent recursive watch, and sometimes read one without a
 * watch. In the end each znode is written once more, and every watcher must see that.
 *
 * History: `write` [key, value] -> [key, value, zxid]; `arm` [key] -> [key, zxid of the value read]
 * (a read with a watch); `look` [key] -> [key, zxid of the value read]; `follow` null (the
 * recursive watch stands). Without a call: `fired` [key, type, zxid or null] of a one-shot watch;
 * `event` [key, type, zxid or null] and `resync` reason, of the recursive one; in the end `untold`
 * with what is missing, and `told` when that was checked.
 */
import type { NodeEvent, WatchEvent } from '@rookery/client';
import { checkWatches } from '../checkers/watches.js';
import type { Recorder } from '../history/history-writer.js';
import { attempt } from './attempt.js';
import { Numbers, newStation, pause, prepare, type Station, untilTrue, work } from './station.js';
import type { Workload } from './workload.js';

const NAME = 'watches';
const WRITERS = 2;
const WATCHERS = 3;
const KEYS = [0, 1, 2] as const;
const LOOK_MAX_MS = 60;
const TROUBLE_MS = 50;

export function watchesWorkload(): Workload {
  const numbers = new Numbers();
  const watchers: Watcher[] = [];
  let after = new AbortController();

  const write = ({ client, recorder }: Station, prefix: string, key: number) => {
    const value = numbers.next();
    let zxid: number | null = null;
    const writing = { client, recorder, f: 'write', value: [key, value] };
    return attempt(writing, async () => {
      const { mzxid } = await client.setData(`${prefix}/${key}`, `${value}`);
      zxid = Number(mzxid);
      return [key, value, zxid];
    }).then(() => zxid);
  };

  return {
    name: NAME,
    clients: WRITERS + WATCHERS,
    check: checkWatches,
    setup: (context) =>
      prepare(
        context,
        KEYS.map((key) => ({ path: `${context.prefix}/${key}`, data: '0' })),
      ),
    run: async (number, context, signal) => {
      const options = { workload: NAME, number, context, signal };
      if (number < WRITERS) {
        return await work(options, async (station) => {
          const key = station.random.pick(KEYS);
          return (await write(station, context.prefix, key)) !== null;
        });
      }
      // It watches until the very end, beyond the signal.
      const station = newStation({ ...options, signal: after.signal });
      const watcher = new Watcher(station, context.prefix);
      watchers.push(watcher);
      await watcher.lookAround(signal);
    },
    finish: async (context) => {
      const { signal } = after;
      const station = newStation({ workload: NAME, number: WRITERS + WATCHERS, context, signal });
      try {
        for (const key of KEYS) {
          const resyncs = watchers.map((watcher) => watcher.resyncs);
          let zxid: number | null = null;
          await untilTrue(`writes ${key}`, async () => {
            zxid = await write(station, context.prefix, key);
            return zxid !== null;
          });
          for (const [index, watcher] of watchers.entries()) {
            await untilTrue(`the last change of ${key} is told to watcher ${index}`, async () =>
              watcher.hasSeen(key, zxid ?? 0, resyncs[index] ?? 0),
            ).catch((error: unknown) => station.tell('untold', String(error)));
          }
        }
        station.tell('told', null);
      } finally {
        after.abort();
        after = new AbortController();
        await Promise.all([...watchers.map((watcher) => watcher.end()), station.client.close()]);
      }
    },
  };
}

/** A client that follows all znodes by both kinds of watches. */
class Watcher {
  readonly #station: Station;
  readonly #prefix: string;
  readonly #following: Promise<unknown>;
  /** For each key, the zxid of the newest value that was read with a one-shot watch. */
  readonly #shown = new Map<number, number>();
  /** For each key, the zxid of the last event of the recursive watch. */
  readonly #told = new Map<number, number>();
  #resyncs = 0;

  constructor(station: Station, prefix: string) {
    this.#station = station;
    this.#prefix = prefix;
    const loops = KEYS.map((key) => this.#followOneByOne(key));
    this.#following = Promise.all([this.#followAll(), ...loops]);
  }

  /** The number of times that it may have missed events of the recursive watch. */
  get resyncs(): number {
    return this.#resyncs;
  }

  /** `since` is its number of resyncs before the change was made. */
  hasSeen(key: number, zxid: number, since: number): boolean {
    const isTold = (this.#told.get(key) ?? 0) >= zxid || this.#resyncs > since;
    return isTold && (this.#shown.get(key) ?? 0) >= zxid;
  }

  async lookAround(signal: AbortSignal): Promise<void> {
    const { random } = this.#station;
    const recorder = this.#station.newRecorder();
    while (!signal.aborted) {
      const isWell = (await this.#read(recorder, 'look', random.pick(KEYS))) !== null;
      await pause(random.below(LOOK_MAX_MS) + (isWell ? 0 : TROUBLE_MS), signal);
    }
  }

  async end(): Promise<void> {
    await this.#station.client.close();
    await this.#following;
  }

  async #followAll(): Promise<void> {
    const { client, signal } = this.#station;
    const recorder = this.#station.newRecorder();
    const watcher = (event: WatchEvent) => this.#onEvent(event);
    const following = { client, recorder, f: 'follow', value: null, isRead: true };
    while (!signal.aborted) {
      const isWell = await attempt(following, async () => {
        await client.addWatch(this.#prefix, watcher, { recursive: true });
        return null;
      });
      if (isWell) return;
      await pause(TROUBLE_MS, signal);
    }
  }

  #onEvent(event: WatchEvent): void {
    const { tell } = this.#station;
    if (event.type === 'resync') {
      this.#resyncs++;
      tell('resync', event.reason);
    } else if (isChange(event)) {
      const key = this.#keyOf(event.path);
      const zxid = event.zxid === null ? null : Number(event.zxid);
      if (key === null) return;
      tell('event', [key, event.type, zxid]);
      if (zxid !== null) this.#told.set(key, zxid);
    }
  }

  async #followOneByOne(key: number): Promise<void> {
    const { signal, tell } = this.#station;
    const recorder = this.#station.newRecorder();
    while (!signal.aborted) {
      let isOver = false;
      let onFired = () => {};
      const fired = new Promise<void>((resolve) => {
        onFired = resolve;
      });
      const shown = await this.#read(recorder, 'arm', key, (event) => {
        const zxid = isChange(event) && event.zxid !== null ? Number(event.zxid) : null;
        tell('fired', [key, event.type, zxid]);
        isOver = event.type === 'closed';
        onFired();
      });
      if (shown === null) {
        await pause(TROUBLE_MS, signal);
        continue;
      }
      this.#shown.set(key, shown);
      await fired;
      if (isOver) return;
    }
  }

  /** Resolves with the zxid of the value that was read; null if it could not be read. */
  async #read(
    recorder: Recorder,
    f: 'arm' | 'look',
    key: number,
    watcher?: (event: WatchEvent) => void,
  ): Promise<number | null> {
    const { client } = this.#station;
    let zxid: number | null = null;
    await attempt({ client, recorder, f, value: [key], isRead: true }, async () => {
      const { stat } = await client.getData(`${this.#prefix}/${key}`, { watcher });
      zxid = Number(stat.mzxid);
      return [key, zxid];
    });
    return zxid;
  }

  #keyOf(path: string): number | null {
    const name = path.slice(this.#prefix.length + 1);
    return name === '' ? null : Number(name);
  }
}

function isChange(event: WatchEvent): event is NodeEvent {
  return 'zxid' in event;
}
