/**
 * The surroundings of a read: the state and watches of the member, and the connection that asks.
 */
import { Perms } from '@rookery/protocol';
import type { ReplicatedState } from '../state/replicated-state.js';
import type { SessionId } from '../state/txn.js';
import type { WatcherId, WatchTable } from '../state/watches.js';
import { mayDo, type Requester } from './access.js';
import type { ClientChannel } from './client-channel.js';
import type { Connection } from './connection.js';

export interface ReadScene {
  readonly state: ReplicatedState;
  readonly watches: WatchTable;
  readonly watcher: WatcherId;
  readonly channel: ClientChannel;
  readonly requester: Requester;
  readonly session: SessionId;
  /** The operations of one multiRead. */
  readonly multiOpsMax: number;
}

/** Makes scenes. It keeps the last one, because the next read is mostly of the same connection. */
export class ReadScenes {
  readonly #parts: Pick<ReadScene, 'watches' | 'multiOpsMax'>;
  #last: ReadScene | null = null;

  constructor(parts: Pick<ReadScene, 'watches' | 'multiOpsMax'>) {
    this.#parts = parts;
  }

  of(
    state: ReplicatedState,
    { id: watcher, session, channel }: Pick<Connection, 'id' | 'session' | 'channel'>,
    requester: Requester,
  ): ReadScene {
    const last = this.#last;
    const isSame = last?.watcher === watcher && last.requester === requester;
    if (isSame && last.state === state) return last;
    const { watches, multiOpsMax } = this.#parts;
    const scene = { state, watches, multiOpsMax, watcher, channel, requester, session };
    this.#last = scene;
    return scene;
  }

  /** Keeps nothing of the state and of the connection that were read last. */
  forget(): void {
    this.#last = null;
  }
}

/** Whether the client may read this node; every read of a node asks. */
export function mayRead(scene: ReadScene, node: number): boolean {
  if (scene.state.tree.worldMay(node, Perms.read)) return true;
  return mayDo(scene.requester, scene.state.tree.acl(node), Perms.read);
}
