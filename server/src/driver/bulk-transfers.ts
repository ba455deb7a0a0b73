/**
 * Connects the bulk transfers to and from learners with the turns, core and links of a driver.
 *
 * It holds only the wiring: outgoing transfers (`transfers.ts`) and incoming snapshots
 * (`snapshot-receiver.ts`) report here, and each report becomes one input of the core. Made once,
 * by the driver.
 */
import { formatZxid, type PeerId, type PeerMessage, type Zxid } from '@rookery/protocol';
import type { DamagedError } from '../storage/errors.js';
import type { LinkId, ZabInput } from '../zab/index.js';
import type { DriverParts } from './parts.js';
import { SnapshotReceiver } from './snapshot-receiver.js';
import type { StateKeeper } from './state-keeper.js';
import { Transfers } from './transfers.js';

export interface BulkHooks {
  readonly keeper: StateKeeper;
  /** Each call runs in a turn of its own, or in the one that is open. */
  step(input: ZabInput): void;
  send(peer: PeerId, link: LinkId, message: PeerMessage): void;
  fail(error: unknown): void;
}

export interface BulkTransfers {
  readonly transfers: Transfers;
  readonly receiver: SnapshotReceiver;
}

export function bulkTransfers(parts: DriverParts, hooks: BulkHooks): BulkTransfers {
  const drop = (peer: PeerId, link: LinkId, reason: string): void =>
    parts.peerPort().disconnect(peer, link, reason);
  const links = {
    isUp: (peer: PeerId, link: LinkId) => parts.peerPort().isUp(peer, link),
    send: hooks.send,
    queuedBytes: (peer: PeerId, link: LinkId) => parts.peerPort().queuedBytes(peer, link),
    drop,
    onSnapshotSent: (peer: PeerId, link: LinkId, zxid: Zxid) =>
      hooks.step({ kind: 'snapshotSent', peer, link, zxid }),
    onHistorySent: (peer: PeerId, link: LinkId, through: Zxid) =>
      hooks.step({ kind: 'historySent', peer, link, through }),
    isDamaged: () => hooks.keeper.repair.damage !== null,
    onDamage: (error: DamagedError) => hooks.keeper.repair.onDamage(error),
    onUnreadable: (base: Zxid, reason: string) => {
      parts.logger.warn({ base: formatZxid(base), reason }, 'log.unreadable');
      hooks.step({ kind: 'purged', base });
    },
  };
  const transfers = new Transfers(parts.storage, parts.timers, links, parts.options);
  const receiver = new SnapshotReceiver(parts.storage, parts.options, {
    newState: () => parts.newState(),
    expectedFrom: () => parts.zab.snapshotFrom,
    acknowledge: (peer, link, index) => hooks.send(peer, link, { kind: 'snapshotAck', index }),
    onVerified: (zxid, state) => hooks.keeper.onVerified(zxid, state),
    onMessage: (peer, link, message) => hooks.step({ kind: 'message', peer, link, message }),
    onRefused: drop,
    onFatal: hooks.fail,
  });
  return { transfers, receiver };
}
