/**
 * A model of a server's watches for one session, and of the two streams to and from it, each of
 * which the test moves one message at a time. A modern server keeps all modes on a path side by
 * side. A legacy one, as ZooKeeper 3.8 was observed to do, has one mode for each path and table,
 * the last one requested. Only for tests.
 */
import {
  AddWatchMode,
  ConnectionLossError,
  KeeperState,
  NoWatcherError,
  OpCode,
  type WatcherEvent,
  WatcherType,
} from '@rookery/protocol';
import type { RearmRequest } from '../watches/rearm.js';

type Mode = 'once' | 'persistent' | 'recursive';
export type Change = 'created' | 'deleted' | 'dataChanged' | 'childrenChanged';
const EVENT_TYPES = { created: 1, deleted: 2, dataChanged: 3, childrenChanged: 4 } as const;

export interface NodeState {
  readonly mzxid: number;
  readonly pzxid: number;
}

export interface Message {
  /** Processes the message at the server. Returns what the client does with the reply. */
  process(server: ModelWatchServer): () => void;
  fail(error: Error): void;
}

export class ModelWatchServer {
  readonly nodes = new Map<string, NodeState>();
  zxid = 1;
  connected = true;
  /** Called by the client but not sent, because there is no connection. */
  readonly unsent: Message[] = [];
  readonly requests: Message[] = [];
  readonly frames: { deliver(): void; fail(): void }[] = [];
  readonly #legacy: boolean;
  readonly #onEvent: (event: WatcherEvent, zxid: bigint) => void;
  #data = new Map<string, Set<Mode>>();
  #child = new Map<string, Set<Mode>>();

  constructor(options: {
    readonly legacy: boolean;
    readonly onEvent: (event: WatcherEvent, zxid: bigint) => void;
  }) {
    this.#legacy = options.legacy;
    this.#onEvent = options.onEvent;
  }

  send(message: Message): void {
    (this.connected ? this.requests : this.unsent).push(message);
  }

  processNext(): void {
    const message = this.requests.shift();
    if (message === undefined) return;
    const deliver = message.process(this);
    this.frames.push({ deliver, fail: () => message.fail(new ConnectionLossError()) });
  }

  deliverNext(): void {
    this.frames.shift()?.deliver();
  }

  /** Drops everything in flight; the watches are gone with the connection. */
  cut(): void {
    if (!this.connected) return;
    this.connected = false;
    this.#data.clear();
    this.#child.clear();
    for (const frame of this.frames.splice(0)) frame.fail();
    for (const request of this.requests.splice(0)) request.fail(new ConnectionLossError());
  }

  /** `onReply` is called with the reply to each request, its zxid and whether it is the last. */
  reconnect(
    rearm: readonly RearmRequest[],
    onReply: (reply: { readonly zxid: number; readonly isLast: boolean }) => void,
  ): void {
    this.connected = true;
    for (const request of rearm) {
      const isLast = request === rearm.at(-1);
      this.requests.push(this.#rearming(request, (zxid) => onReply({ zxid, isLast })));
    }
    this.requests.push(...this.unsent.splice(0));
  }

  mutate(change: Change, path: string): void {
    const node = this.nodes.get(path);
    if ((change === 'created') !== (node === undefined)) return;
    this.zxid += 1;
    const { zxid } = this;
    if (change === 'deleted') this.nodes.delete(path);
    else if (change === 'created') this.nodes.set(path, { mzxid: zxid, pzxid: zxid });
    else if (node !== undefined) {
      this.nodes.set(
        path,
        change === 'dataChanged' ? { ...node, mzxid: zxid } : { ...node, pzxid: zxid },
      );
    }
    const heardData = change !== 'childrenChanged' && this.#fire(this.#data, change, path);
    const heardChild =
      (change === 'childrenChanged' || change === 'deleted') &&
      this.#fire(this.#child, change, path);
    if (heardData || heardChild) this.#tell(change, path, BigInt(zxid));
  }

  watchRead(table: 'data' | 'child', path: string): void {
    this.#set(table === 'data' ? this.#data : this.#child, path, 'once');
  }

  addWatch(path: string, mode: number): void {
    const added = mode === AddWatchMode.persistent ? 'persistent' : 'recursive';
    this.#set(this.#data, path, added);
    if (added === 'persistent' || this.#legacy) this.#set(this.#child, path, added);
  }

  removeWatches(path: string, type: number): Error | null {
    const modes: Mode[] = type === WatcherType.persistent ? ['persistent'] : ['recursive'];
    if (type === WatcherType.any) modes.push('once', 'persistent');
    else if (type === WatcherType.data || type === WatcherType.children) modes.splice(0, 1, 'once');
    else if (this.#legacy) return new Error('no such type');
    let found = false;
    for (const table of [this.#data, this.#child]) {
      if (type === WatcherType.data && table !== this.#data) continue;
      if (type === WatcherType.children && table !== this.#child) continue;
      const present = table.get(path) ?? new Set<Mode>();
      for (const mode of this.#legacy ? [...present] : modes) found = present.delete(mode) || found;
      if (present.size === 0) table.delete(path);
    }
    return found ? null : new NoWatcherError(path);
  }

  /** Whether the session would be notified of changes of this kind at the path. */
  hears(table: 'data' | 'child', path: string): boolean {
    const modes = (table === 'data' ? this.#data : this.#child).get(path);
    if (modes === undefined) return false;
    return table === 'data' || modes.has('once') || modes.has('persistent');
  }

  has(mode: Mode, path: string): boolean {
    return this.#data.get(path)?.has(mode) === true;
  }

  #set(table: Map<string, Set<Mode>>, path: string, mode: Mode): void {
    const present = table.get(path);
    if (present === undefined || this.#legacy) table.set(path, new Set([mode]));
    else present.add(mode);
  }

  #fire(table: Map<string, Set<Mode>>, change: Change, path: string): boolean {
    const modes = table.get(path);
    if (modes === undefined) return false;
    const hears =
      modes.has('once') ||
      modes.has('persistent') ||
      (modes.has('recursive') && change !== 'childrenChanged');
    modes.delete('once');
    if (modes.size === 0) table.delete(path);
    return hears;
  }

  #tell(change: Change, path: string, zxid: bigint): void {
    const event = { type: EVENT_TYPES[change], state: KeeperState.syncConnected, path };
    this.frames.push({ deliver: () => this.#onEvent(event, zxid), fail: () => undefined });
  }

  #rearming(rearm: RearmRequest, onReply: (zxid: number) => void): Message {
    return {
      process: () => {
        const { request } = rearm;
        const since = Number(request.relativeZxid);
        for (const path of request.dataWatches) {
          const node = this.nodes.get(path);
          if (node === undefined) this.#tell('deleted', path, -1n);
          else if (node.mzxid > since) this.#tell('dataChanged', path, -1n);
          else this.#set(this.#data, path, 'once');
        }
        for (const path of request.existWatches) {
          if (this.nodes.has(path)) this.#tell('created', path, -1n);
          else this.#set(this.#data, path, 'once');
        }
        for (const path of request.childWatches) {
          const node = this.nodes.get(path);
          if (node === undefined) this.#tell('deleted', path, -1n);
          else if (node.pzxid > since) this.#tell('childrenChanged', path, -1n);
          else this.#set(this.#child, path, 'once');
        }
        if (rearm.opcode === OpCode.setWatches2) {
          for (const path of rearm.request.persistentWatches) this.addWatch(path, 0);
          for (const path of rearm.request.persistentRecursiveWatches) this.addWatch(path, 1);
        }
        const { zxid } = this;
        return () => onReply(zxid);
      },
      fail: () => undefined,
    };
  }
}
