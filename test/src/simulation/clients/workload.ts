/**
 * The requests of one client: a stream of operations drawn from its own random numbers.
 *
 * It learns from replies (versions for compare-and-set, names of its own sequential nodes) and
 * never sends. Every text that it writes is unique: the client's number, a dot and a counter, so
 * that checkers know which client wrote what. The kinds of work are in `works.ts`.
 */
import { ErrorCode } from '@rookery/protocol';
import type { Operation, Result, StatSeen } from '../contract/history.js';
import type { Random } from '../random.js';
import { digs } from './digs.js';
import { hoards } from './hoards.js';
import type { ClientOptions } from './options.js';
import {
  CANNOT_FAIL,
  LIMITED,
  type Proof,
  readAnything,
  type Scene,
  timed,
  WORK_OF,
} from './works.js';

/** The number of its sequential nodes; older ones are deleted. */
const OWN_NAMES_MAX = 64;

export class Workload implements Scene {
  readonly client: number;
  readonly random: Random;
  readonly options: ClientOptions;
  /** What was seen last, by path. */
  readonly versions = new Map<string, number>();
  /** Nodes created and not yet deleted by this client, oldest first. */
  readonly ownNames: string[] = [];
  readonly registers: readonly string[];
  readonly isReader: boolean;
  readonly #works: readonly ((scene: Scene) => void)[];
  readonly #due: (Operation | Proof)[] = [];
  #texts = 0;

  constructor(client: number, random: Random, options: ClientOptions) {
    this.client = client;
    this.random = random;
    this.options = options;
    this.registers = Array.from({ length: options.registers }, (_, index) => `/r/${index}`);
    this.isReader = random.chance(options.readerShare);
    const works = options.works.map((work) => WORK_OF[work]);
    if (options.hoards) works.push(hoards);
    if (options.digs) works.push(digs);
    if (options.ttls) works.push(timed);
    this.#works = this.isReader ? [readAnything] : works;
  }

  text(): string {
    this.#texts += 1;
    return `${this.client}.${this.#texts}`;
  }

  push(due: Operation | Proof): void {
    this.#due.push(due);
  }

  next(): Operation | Proof {
    for (;;) {
      const due = this.#due.shift();
      if (due !== undefined) return due;
      this.random.pick(this.#works)(this);
    }
  }

  /** A new session begins by ensuring that there is something to work on. */
  onNewSession(): void {
    this.#due.length = 0;
    if (this.isReader) return;
    for (const path of CANNOT_FAIL) this.#createIfMissing(path);
    for (const path of this.registers) this.#createIfMissing(path);
    if (this.options.works.includes('secrets')) this.#createIfMissing('/s');
    if (!this.options.works.includes('limits')) return;
    for (const path of LIMITED) this.#createIfMissing(path);
  }

  /**
   * The last requests of a client, after everything is healed: writes must be answered then, too.
   */
  lastRequests(): readonly Operation[] {
    const write = { kind: 'set', path: '/r', data: this.text(), version: -1 } as const;
    return [
      ...(this.isReader ? [] : [write]),
      { kind: 'sync', path: '/r' },
      ...this.registers.map((path) => ({ kind: 'get' as const, path, watch: false })),
      { kind: 'children', path: '/q', watch: false },
      { kind: 'children', path: '/e', watch: false },
    ];
  }

  onReply(operation: Operation, result: Result): void {
    const { stat, error } = result;
    switch (operation.kind) {
      case 'set':
      case 'get':
      case 'exists':
        if (stat !== null) this.#seen(operation.path, stat);
        return;
      case 'create':
        if (error === ErrorCode.ok) this.#created(result.path, operation.path);
        return;
      case 'multi':
        for (const [index, part] of (result.parts ?? []).entries()) {
          const asked = operation.parts[index];
          if (error !== ErrorCode.ok || asked === undefined) continue;
          if (asked.kind === 'create') this.#created(part.path, asked.path);
          if (part.stat !== null) this.#seen(asked.path, part.stat);
        }
        return;
      default:
        return;
    }
  }

  #seen(path: string, stat: StatSeen): void {
    this.versions.set(path, stat.version);
  }

  #created(path: string | null, asked: string): void {
    if (path === null) return;
    if (path === asked) {
      this.versions.set(path, 0);
      return;
    }
    this.ownNames.push(path);
    if (this.ownNames.length > OWN_NAMES_MAX) this.ownNames.shift();
  }

  #createIfMissing(path: string): void {
    this.push({ kind: 'create', path, data: this.text(), mode: 'persistent' });
  }
}
