/**
 * Keeps recent events of a member, with their causes: elections, joins, slow syncs, expiries,
 * refusals, damage. The newest EVENTS_MAX, each of a bounded size, and the logger that fills the
 * ring.
 *
 * An event is a line of the log at level info or above, because each change of state has its line
 * there already, and what repeats is limited to one a second. It is kept whatever level is written.
 * Numbers begin at 1 with the process, and `start` identifies that process, so that a reader
 * notices a restart. Read by the admin port.
 */
import { errorMessage } from '@rookery/protocol';
import type { Logger } from 'pino';

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

type Level = MemberEvent['level'];

const LEVELS: readonly Level[] = ['info', 'warn', 'error', 'fatal'];

/**
 * A member's logger that also keeps its lines at level info and above in the ring of events,
 * whatever level is written.
 *
 * The same logger but for these methods; its children record, too.
 */
export function recordingLogger(logger: Logger, ring: EventRing): Logger {
  const recording: Logger = Object.create(logger);
  for (const level of LEVELS) {
    const write: (...given: unknown[]) => void = logger[level];
    Object.defineProperty(recording, level, {
      value(this: Logger, ...given: unknown[]): void {
        const [first, second] = given;
        if (typeof first === 'string') ring.add(level, first, {});
        else if (typeof first === 'object' && first !== null) {
          ring.add(level, String(second ?? ''), first);
        }
        Reflect.apply(write, this, given);
      },
    });
  }
  return recording;
}
