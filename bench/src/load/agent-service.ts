/**
 * What a generator process does on request: one load, one crowd, or the client's own cost.
 *
 * There is one object for each process. Its methods are called from another process through
 * `agent.ts`, so arguments and results are plain data. Each result says what share of a processor
 * the generator took, if that could distort the figures.
 */
import { OpCode, SetDataRequest } from '@rookery/protocol';
import { type ClientCost, type ClientCostOptions, measureClientCost } from './client-cost.js';
import type { LoadConnection } from './connection.js';
import { Crowd, type CrowdOptions, type CrowdTiming } from './crowd.js';
import type { Host } from './dial.js';
import { frameOf } from './frames.js';
import { idleConnection } from './idle-connection.js';
import { type LoadOptions, type LoadResult, LoadRun } from './load.js';
import { OneFrameSource } from './one-frame-source.js';
import { type SetUp, setUp } from './setup.js';

export type Timed = CrowdTiming & { readonly cpuShare: number };

export class AgentService {
  #load: LoadRun | null = null;
  #crowd: Crowd | null = null;
  #writer: LoadConnection | null = null;

  async setUp(options: SetUp): Promise<void> {
    await setUp(options);
  }

  async openLoad(options: LoadOptions): Promise<void> {
    this.#load = new LoadRun(options);
    await this.#load.open();
  }

  async measureLoad(): Promise<LoadResult> {
    if (this.#load === null) throw new Error('no load is open');
    return await this.#load.measure();
  }

  async stopLoad(): Promise<void> {
    this.#load?.stop();
  }

  async closeLoad(): Promise<void> {
    await this.#load?.close();
  }

  async connectCrowd(options: CrowdOptions): Promise<Timed> {
    const crowd = new Crowd(options);
    this.#crowd = crowd;
    return await withCpuShare(() => crowd.connect());
  }

  /** Connects the crowd once more after `closeCrowd`, with new sessions; TLS is resumed. */
  async connectCrowdAgain(): Promise<Timed> {
    return await withCpuShare(() => this.#openCrowd.connect());
  }

  async reconnectCrowd(): Promise<Timed> {
    return await withCpuShare(() => this.#openCrowd.reconnect());
  }

  async createEphemerals(parent: string): Promise<Timed> {
    return await withCpuShare(() => this.#openCrowd.createEphemerals(parent));
  }

  async watch(path: string): Promise<Timed> {
    return await withCpuShare(() => this.#openCrowd.watch(path));
  }

  /**
   * Measures from the write of `path`, through a connection of its own, to the last session's
   * event.
   */
  async change(host: Host, path: string): Promise<Timed> {
    const writer = await this.#theWriter(host);
    const request = { path, data: new Uint8Array(100), version: -1 };
    return await withCpuShare(async () => {
      const events = this.#openCrowd.events();
      writer.start(new OneFrameSource(frameOf(OpCode.setData, SetDataRequest, request)));
      return await events;
    });
  }

  async abandonCrowd(): Promise<void> {
    this.#crowd?.abandon();
  }

  async closeCrowd(): Promise<void> {
    await this.#crowd?.close();
    await this.#writer?.close();
  }

  async clientCost(options: ClientCostOptions): Promise<ClientCost> {
    return await measureClientCost(options);
  }

  async #theWriter(host: Host): Promise<LoadConnection> {
    if (this.#writer !== null) return this.#writer;
    const writer = idleConnection(host);
    await writer.connected();
    this.#writer = writer;
    return writer;
  }

  get #openCrowd(): Crowd {
    if (this.#crowd === null) throw new Error('no crowd is there');
    return this.#crowd;
  }
}

async function withCpuShare(task: () => Promise<CrowdTiming>): Promise<Timed> {
  const before = process.cpuUsage();
  const timing = await task();
  const { user, system } = process.cpuUsage(before);
  return { ...timing, cpuShare: (user + system) / 1000 / timing.elapsedMs };
}
