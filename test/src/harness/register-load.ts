/**
 * Clients that write and read a few registers at every member, and the history of what they saw.
 *
 * A write is a setData of a value that was never used before, a read is a sync and a getData in one
 * session: together they are linearizable, whichever members answer. A request whose connection
 * ended has no answer, and is never repeated. `verdicts` judges the history of each register.
 */
import { checkLinearizable } from '../checking/linearizability.js';
import type { Operation } from '../checking/model.js';
import {
  casRegister,
  type RegisterOp,
  type RegisterResult,
} from '../checking/models/cas-register.js';
import { ensure, getData, setData, sync } from './operations.js';
import { until } from './wait.js';
import { WireClient } from './wire-client.js';

const REGISTERS = 4;
const CLIENTS = 6;
const PARENT = '/registers';
const INITIAL = 'none';
/** The pause between two operations of a client: histories stay short enough for the search. */
const PAUSE_MS = 20;
const START_DEADLINE_MS = 30_000;

type Seen = Operation<RegisterOp, RegisterResult>;

export class RegisterLoad {
  readonly #ports: readonly number[];
  readonly #histories: Seen[][] = Array.from({ length: REGISTERS }, () => []);
  #loops: Promise<void>[] = [];
  #isStopping = false;
  #nextValue = 1;
  #nextTime = 1;

  constructor(ports: readonly number[]) {
    this.#ports = ports;
  }

  /** The number of operations that were answered. */
  get answered(): number {
    return this.#histories.flat().filter(({ answer }) => answer !== null).length;
  }

  async start(): Promise<void> {
    await until('the registers exist', START_DEADLINE_MS, async () => {
      const client = await WireClient.connect({ port: this.#ports[0] ?? 0 });
      await ensure(client, PARENT);
      for (let index = 0; index < REGISTERS; index++) {
        await ensure(client, pathOf(index));
        await setData(client, pathOf(index), INITIAL);
      }
      await client.close();
      return true;
    });
    this.#loops = Array.from({ length: CLIENTS }, (_, index) => this.#run(index));
  }

  /** Resolves when this many more operations have been answered. */
  async progress(count: number, deadlineMs: number): Promise<void> {
    const target = this.answered + count;
    await until(`${count} more operations on registers`, deadlineMs, () =>
      Promise.resolve(this.answered >= target ? true : undefined),
    );
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#loops);
  }

  /** For each register, whether one order explains all answers. */
  verdicts(): readonly string[] {
    const model = casRegister(INITIAL);
    return this.#histories.map((history) => checkLinearizable(model, history).verdict);
  }

  async #run(first: number): Promise<void> {
    let at = first;
    while (!this.#isStopping) {
      const port = this.#ports[at++ % this.#ports.length] ?? 0;
      const client = await WireClient.connect({ port, recording: false }).catch(() => null);
      if (client === null) await pause();
      else await this.#useUntilLost(client, at);
    }
  }

  async #useUntilLost(client: WireClient, first: number): Promise<void> {
    for (let step = first; client.open && !this.#isStopping; step++) {
      const register = step % REGISTERS;
      const isWrite = step % 3 === 0;
      const op: RegisterOp = isWrite
        ? { kind: 'write', value: `v${this.#nextValue++}` }
        : { kind: 'read' };
      const calledAt = this.#nextTime++;
      const result = await ask(client, register, op).catch(() => undefined);
      const answer = result === undefined ? null : { at: this.#nextTime++, result };
      if (isWrite || answer !== null) this.#histories[register]?.push({ op, calledAt, answer });
      await pause();
    }
    await client.drop();
  }
}

async function ask(client: WireClient, register: number, op: RegisterOp): Promise<RegisterResult> {
  if (op.kind === 'write') {
    await setData(client, pathOf(register), String(op.value));
    return null;
  }
  await sync(client);
  return (await getData(client, pathOf(register))).data;
}

function pathOf(register: number): string {
  return `${PARENT}/${register}`;
}

function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, PAUSE_MS);
  });
}
