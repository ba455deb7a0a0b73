/** Asks all members `srvr` and `mntr`, again and again, for the rows that `top` shows of them. */

import type { NamedAddress } from '../command/addresses.js';
import { messageOf } from '../machine/error-code.js';
import { askWord } from '../status/four-letter-word.js';
import { reasonOf } from '../status/server-status.js';
import { type Asked, type Row, rowsOf } from './rows.js';
import { parseSample } from './sample.js';

export class MemberLooks {
  readonly #servers: readonly NamedAddress[];
  readonly #timeoutMs: number;
  #before: readonly Asked[] | null = null;

  constructor(servers: readonly NamedAddress[], timeoutMs: number) {
    this.#servers = servers;
    this.#timeoutMs = timeoutMs;
  }

  /** Rates are those since the look before. Never rejects. */
  async look(): Promise<readonly Row[]> {
    const asked = await Promise.all(this.#servers.map((server) => ask(server, this.#timeoutMs)));
    const rows = rowsOf(this.#before, asked);
    this.#before = asked;
    return rows;
  }
}

async function ask(server: NamedAddress, timeoutMs: number): Promise<Asked> {
  const { address } = server;
  // It may fail, and where the configuration does not allow the word it is a sentence that says so:
  // then the row lacks what only `mntr` tells.
  const details = askWord(server, 'mntr', timeoutMs).catch(() => null);
  try {
    const text = await askWord(server, 'srvr', timeoutMs);
    const atMs = performance.now();
    const sample = parseSample(text, await details);
    return { address, atMs, sample, problem: sample === null ? reasonOf(text) : null };
  } catch (error) {
    return { address, atMs: performance.now(), sample: null, problem: messageOf(error) };
  }
}
