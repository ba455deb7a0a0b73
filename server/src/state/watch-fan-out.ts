/**
 * How many watchers each change had, by kind of event, since the process started.
 *
 * Only changes that somebody watched are counted, as ZooKeeper does. Written as events come out of
 * the watch table, never read to decide anything.
 */
import { EventType } from '@rookery/protocol';
import { Summary } from '../measures/summary.js';

export class WatchFanOut {
  readonly created = new Summary();
  readonly deleted = new Summary();
  readonly dataChanged = new Summary();
  readonly childrenChanged = new Summary();
  /** The change that is being told. */
  #type: EventType = EventType.none;
  #path = '';
  #watchers = 0;

  /** One watcher of a change is told; those of one change come one after the other. */
  told(type: EventType, path: string): void {
    if (type !== this.#type || path !== this.#path) this.end();
    this.#type = type;
    this.#path = path;
    this.#watchers += 1;
  }

  /** All of the changes have been told. */
  end(): void {
    if (this.#watchers === 0) return;
    this.#of(this.#type)?.record(this.#watchers);
    this.#path = '';
    this.#watchers = 0;
  }

  #of(type: EventType): Summary | null {
    if (type === EventType.created) return this.created;
    if (type === EventType.deleted) return this.deleted;
    if (type === EventType.dataChanged) return this.dataChanged;
    return type === EventType.childrenChanged ? this.childrenChanged : null;
  }
}
