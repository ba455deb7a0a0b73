/**
 * While the client is connected to a read-only member, looks for a member that serves writes.
 *
 * It sends the four-letter word `isro` to one server after the other, on connections of its own,
 * with a growing pause. It reports the first server that answers `rw`, and then stops.
 */
import type { Surroundings } from '../api/surroundings.js';
import type { ServerName } from '../wire/connect-string.js';
import type { HostList } from '../wire/host-list.js';
import type { Address, Dial, Link } from '../wire/link.js';

export interface ReadWriteSearchOptions {
  readonly surroundings: Surroundings;
  readonly hosts: HostList;
  readonly dial: Dial;
  readonly connectTimeoutMs: number;
  onFound(server: ServerName): void;
}

const PAUSE_MS_MIN = 100;
const PAUSE_MS_MAX = 60_000;
const ANSWER_CHARS_MAX = 16;

export class ReadWriteSearch {
  readonly #options: ReadWriteSearchOptions;
  #pauseMs = PAUSE_MS_MIN;
  #cancelTimer: (() => void) | null = null;
  #link: Link | null = null;
  /** Incremented with each question and by `stop`, so that late answers are recognized. */
  #attempt = 0;
  #next = 0;

  constructor(options: ReadWriteSearchOptions) {
    this.#options = options;
  }

  start(): void {
    this.stop();
    this.#pauseMs = PAUSE_MS_MIN;
    this.#pause();
  }

  stop(): void {
    this.#attempt++;
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#link?.destroy();
    this.#link = null;
  }

  #pause(): void {
    const delayMs = this.#pauseMs;
    this.#pauseMs = Math.min(delayMs * 2, PAUSE_MS_MAX);
    this.#cancelTimer = this.#options.surroundings.setTimer(delayMs, () => this.#askNext());
  }

  #askNext(): void {
    const { hosts, surroundings, connectTimeoutMs } = this.#options;
    const attempt = ++this.#attempt;
    const isPresent = () => attempt === this.#attempt;
    const round = hosts.round();
    const entry = round[this.#next++ % Math.max(round.length, 1)];
    const giveUp = () => {
      if (!isPresent()) return;
      this.stop();
      this.#pause();
    };
    this.#cancelTimer = surroundings.setTimer(connectTimeoutMs, giveUp);
    if (entry === undefined) return;
    entry.addresses().then((addresses) => {
      const address = addresses[0];
      if (!isPresent()) return;
      if (address === undefined) giveUp();
      else this.#ask(address, giveUp);
    }, giveUp);
  }

  #ask(address: Address, giveUp: () => void): void {
    let answer = '';
    const link = this.#options.dial(address, {
      onOpen: () => link.write(Buffer.from('isro')),
      onData: (chunk) => {
        answer = (answer + Buffer.from(chunk).toString('latin1')).slice(0, ANSWER_CHARS_MAX);
      },
      onClose: () => {
        if (answer !== 'rw') {
          giveUp();
          return;
        }
        this.stop();
        this.#options.onFound(address.server);
      },
    });
    this.#link = link;
  }
}
