/**
 * The soak: a process with every recipe at work (soak-process.ts), while members are killed, cut
 * off from each other and frozen, and the process's connections are broken, held, and held for
 * longer than its sessions last.
 *
 * After each fault every recipe must go on. At the end the process must have the heap that it had
 * when it was warm, no rejection that nobody awaits (Node ends the process by that), no warning of
 * Node's, and end at once by SIGTERM.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import type { Ensemble } from '../harness/ensemble.js';
import { freePorts } from '../harness/ports.js';
import { REPOSITORY } from '../harness/product.js';
import { LinkProxy } from '../harness/proxy.js';
import type { Random } from '../harness/random.js';
import { type Deferred, deferred, within } from '../harness/wait.js';
import { heldBytes } from './held-bytes.js';
import type { SoakAnswer, SoakQuestion, SoakStatus } from './soak-process.js';

export interface SoakOptions {
  /** Proxied, so that members can be cut off from each other. */
  readonly ensemble: Ensemble;
  readonly random: Random;
  readonly durationMs: number;
  /** After which the heap is what it is to stay, a part of the duration. */
  readonly warmMs: number;
  readonly onProgress?: (line: string) => void;
  /** Where the process writes heap snapshots when it is warm and at the end; the last ones stay. */
  readonly snapshotDirectory: string;
  /** How many of them each time: the least counts, without what is under way at the moment. */
  readonly snapshots: number;
}

export interface SoakReport {
  /** What the process held (held-bytes.ts). */
  readonly warmBytes: number;
  readonly endBytes: number;
  readonly last: SoakStatus;
  readonly faults: ReadonlyMap<string, number>;
  /** From SIGTERM to the end of the process. */
  readonly endMs: number;
  readonly code: number | null;
  /** What the process printed on its standard error, but for the client's own warnings. */
  readonly errors: string;
}

/**
 * For the ensemble. On a busy machine a member may get no processor for more than the second that
 * is the default, and each change of leader ends every connection; faults last up to 3 s.
 */
export const SOAK_SETTINGS = { maxClientCnxns: 0, peerTimeoutMs: 2_000 } as const;

const PROGRAM = join(REPOSITORY, 'test/dist/client/soak-process.js');
const GO_ON_DEADLINE_MS = 120_000;
const STATUS_DEADLINE_MS = 60_000;
const END_DEADLINE_MS = 30_000;
const FAULT_MS_MAX = 3_000;
/** Longer than a session lasts. */
const OUTLASTING_MS = 9_000;

const FAULTS = ['kill', 'partition', 'freeze', 'reset', 'hold', 'outlast'] as const;
type Fault = (typeof FAULTS)[number];

export async function runSoak(options: SoakOptions): Promise<SoakReport> {
  const { ports } = options.ensemble;
  const own = await freePorts(ports.length);
  const proxies = await Promise.all(
    ports.map((target, index) => LinkProxy.listen(own[index] ?? 0, target)),
  );
  const servers = proxies.map(({ port }) => `127.0.0.1:${port}`).join(',');
  const child = fork(PROGRAM, [servers], {
    execArgv: ['--disable-warning=ROOKERY_RECIPE_FAILED'],
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  });
  try {
    return await new Soak(options, child, proxies).run();
  } finally {
    child.kill('SIGKILL');
    await Promise.all(proxies.map((proxy) => proxy.close()));
  }
}

class Soak {
  readonly #options: SoakOptions;
  readonly #child: ChildProcess;
  readonly #proxies: readonly LinkProxy[];
  readonly #faults = new Map<string, number>();
  /** The questions that are not answered, by their numbers. */
  readonly #asked = new Map<number, Deferred<SoakStatus>>();
  #questions = 0;
  #last: SoakStatus | undefined;
  #errors = '';

  constructor(options: SoakOptions, child: ChildProcess, proxies: readonly LinkProxy[]) {
    this.#options = options;
    this.#child = child;
    this.#proxies = proxies;
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#errors += text;
    });
    child.on('message', ({ number, status }: SoakAnswer) => {
      this.#asked.get(number)?.resolve(status);
    });
    child.on('close', () => {
      const error = new Error(`the process has ended: ${this.#errors}`);
      for (const asked of this.#asked.values()) asked.reject(error);
    });
  }

  async run(): Promise<SoakReport> {
    const { durationMs, warmMs } = this.#options;
    const begun = performance.now();
    let warmBytes = 0;
    await this.#goOn();
    for (let left = durationMs; left > 0; left = durationMs - (performance.now() - begun)) {
      await this.#disturb();
      if (warmBytes === 0 && performance.now() - begun >= warmMs) {
        warmBytes = await this.#heldBytes('warm');
      }
    }
    if (warmBytes === 0) warmBytes = await this.#heldBytes('warm');
    const last = await this.#goOn();
    const endBytes = await this.#heldBytes('end');
    const signalled = performance.now();
    this.#child.kill('SIGTERM');
    await within('the process ends by SIGTERM', END_DEADLINE_MS, once(this.#child, 'close'));
    return {
      warmBytes,
      endBytes,
      last,
      faults: this.#faults,
      endMs: performance.now() - signalled,
      code: this.#child.exitCode,
      errors: ownErrors(this.#errors),
    };
  }

  /** One fault, healed, and the work goes on behind it. */
  async #disturb(): Promise<void> {
    const fault = this.#options.random.pick(FAULTS);
    this.#faults.set(fault, (this.#faults.get(fault) ?? 0) + 1);
    await this.#inflict(fault);
    const before = this.#last?.begun ?? {};
    const { heapBytes, events, begun, endings } = await this.#goOn();
    const ended = Object.entries(endings)
      .filter(([name]) => begun[name] !== before[name])
      .map(([name, ending]) => `\n  ${name} had to begin anew: ${ending}`);
    const line = `${fault}: ${sumOf(events)} events, heap ${heapBytes}${ended.join('')}`;
    this.#options.onProgress?.(line);
  }

  async #inflict(fault: Fault): Promise<void> {
    const { ensemble, random } = this.#options;
    const ms = random.below(FAULT_MS_MAX);
    const { id } = random.pick(ensemble.members);
    const member = ensemble.member(id);
    switch (fault) {
      case 'kill':
        await member.kill();
        await pause(ms);
        ensemble.start([id]);
        return await ensemble.serving();
      case 'partition':
        ensemble.network.isolate(id);
        await pause(ms);
        return ensemble.network.heal(id);
      case 'freeze':
        member.freeze();
        await pause(ms);
        return member.thaw();
      case 'reset':
        for (const proxy of this.#proxies) proxy.reset();
        return;
      case 'hold':
        return await this.#hold(ms);
      case 'outlast':
        return await this.#hold(OUTLASTING_MS);
    }
  }

  async #hold(ms: number): Promise<void> {
    for (const proxy of this.#proxies) {
      proxy.hold('out');
      proxy.hold('back');
      proxy.reset();
    }
    await pause(ms);
    for (const proxy of this.#proxies) {
      proxy.pass('out');
      proxy.pass('back');
    }
  }

  /** Resolves when each recipe has had another event. */
  async #goOn(): Promise<SoakStatus> {
    const before = await this.#ask('status', STATUS_DEADLINE_MS);
    try {
      const status = await this.#ask('go-on', GO_ON_DEADLINE_MS);
      this.#last = status;
      return status;
    } catch (cause) {
      const now = await this.#ask('status', STATUS_DEADLINE_MS);
      throw new Error(standstill(before, now), { cause });
    }
  }

  async #heldBytes(moment: 'warm' | 'end'): Promise<number> {
    const { snapshots, snapshotDirectory, onProgress } = this.#options;
    const file = join(snapshotDirectory, `${moment}.heapsnapshot`);
    const samples: number[] = [];
    for (let count = 0; count < snapshots; count++) {
      await this.#goOn();
      await this.#ask('snapshot', STATUS_DEADLINE_MS, file);
      samples.push(heldBytes(file));
    }
    onProgress?.(`${moment}: it holds ${samples.join(', ')} bytes`);
    return Math.min(...samples);
  }

  async #ask(kind: SoakQuestion['kind'], deadlineMs: number, file = ''): Promise<SoakStatus> {
    if (!this.#child.connected) throw new Error(`the process has ended: ${this.#errors}`);
    const number = ++this.#questions;
    const answered = deferred<SoakStatus>();
    this.#asked.set(number, answered);
    try {
      this.#child.send({ number, kind, file } satisfies SoakQuestion);
      return await within(`the answer to ${kind}`, deadlineMs, answered.promise);
    } finally {
      this.#asked.delete(number);
    }
  }
}

/**
 * Which recipes do not go on, what each of them does, and how much of the processor the process has
 * had: a recipe that waits for ever in a process that has enough of it is a defect of the library.
 */
function standstill(before: SoakStatus, now: SoakStatus): string {
  const count = (status: SoakStatus, name: string) => status.events[name] ?? 0;
  const waiting = Object.keys(now.begun).filter((name) => count(now, name) <= count(before, name));
  const facts = waiting.map((name) => {
    const ending = now.endings[name] ?? 'none';
    return `\n  ${name} ${now.steps[name]}, beginning ${now.begun[name]}, last ending: ${ending}`;
  });
  const others = sumOf(now.events) - sumOf(before.events);
  const [load = 0] = loadavg();
  const share = ((now.cpuMs - before.cpuMs) / GO_ON_DEADLINE_MS) * 100;
  return (
    `these do not go on:${facts.join('')}\nThe others had ${others} events. The process had ` +
    `${share.toFixed(1)} % of a processor, its event loop was blocked for up to ` +
    `${now.lagMs.toFixed(0)} ms, and the load of the machine is ${load.toFixed(1)}.`
  );
}

function ownErrors(text: string): string {
  const lines = text.split('\n');
  return lines.filter((line) => !/RookeryWarning|--trace-warnings|^$/.test(line)).join('\n');
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
