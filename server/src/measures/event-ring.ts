/**
 * What happened at a member lately, with its cause: elections, joins, slow syncs, expiries,
 * refusals, damage. The newest EVENTS_MAX, each of a bounded size.
 *
 * An event is a line of the log at level info or above, because there each change of state has its
 * line already, and what repeats is held to one a second. It is kept whatever level is written.
 * Numbers begin at 1 with the process, and `start` says which process that is, so that a reader
 * notices that they began anew. Filled by `recordingLogger`, read by the admin port.
 */
import { errorMessage } from '@rookery/protocol';
export const EVENTS_MAX = 1000;
/** The characters of an event's facts as JSON; of longer ones a part is kept. */
export const FACTS_CHARACTERS_MAX = 2000;
/** The characters of an event's name with its sentence; of longer ones the beginning is kept. */
const EVENT_CHARACTERS_MAX = 500;

export interface MemberEvent {
  readonly number: number;
  /** ISO 8601. */
  readonly time: string;
  readonly level: 'info' | 'warn' | 'error' | 'fatal';
  /** `area.what`, and with some a sentence behind a colon. */
  readonly event: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

export class EventRing {
  /** Names the process: when it began, in ms since 1970. */
  readonly start: string;
  readonly #wallMs: () => number;
  readonly #listeners = new Set<() => void>();
  readonly #events: MemberEvent[] = [];
  #newest = 0;

  constructor(wallMs: () => number) {
    this.#wallMs = wallMs;
    this.start = String(Math.floor(wallMs()));
  }

  /** The number of the newest one; 0 before the first. */
  get newest(): number {
    return this.#newest;
  }

  add(level: MemberEvent['level'], event: string, facts: object): void {
    this.#newest += 1;
    const time = new Date(this.#wallMs()).toISOString();
    const named = { time, level, event: event.slice(0, EVENT_CHARACTERS_MAX) };
    const kept = { number: this.#newest, ...named, facts: boundedFacts(facts) };
    if (this.#events.length < EVENTS_MAX) this.#events.push(kept);
    else this.#events[(this.#newest - 1) % EVENTS_MAX] = kept;
    for (const listener of this.#listeners) listener();
  }

  /** Calls the listener after each event, which must do little; returns how to stop that. */
  onEvent(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Returns the events after that number, the oldest first. */
  after(number: number): MemberEvent[] {
    const newer = this.#events.filter((event) => event.number > number);
    return newer.sort((a, b) => a.number - b.number);
  }

  /** The number of events after that number that are no longer kept. */
  lostAfter(number: number): number {
    const oldest = Math.max(0, this.#newest - EVENTS_MAX) + 1;
    return this.#newest === 0 ? 0 : Math.max(0, oldest - number - 1);
  }
}

/** A copy: what is logged may go on to change. */
function boundedFacts(facts: object): Readonly<Record<string, unknown>> {
  const text = textOf(facts);
  if (text.length <= FACTS_CHARACTERS_MAX) return JSON.parse(text);
  return { part: text.slice(0, FACTS_CHARACTERS_MAX) };
}

function textOf(facts: object): string {
  const plain = Object.fromEntries(
    Object.entries(facts).map(([key, value]) => [
      key,
      value instanceof Error
        ? errorMessage(value)
        : typeof value === 'bigint'
          ? String(value)
          : value,
    ]),
  );
  return JSON.stringify(plain);
}
