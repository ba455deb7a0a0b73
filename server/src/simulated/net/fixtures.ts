/**
 * What the tests of net share: a logger that keeps its lines, a member that answers, a client.
 *
 * Only imported by tests.
 */
import type { JuteReader } from '@rookery/protocol';
import { type Logger, pino } from 'pino';
import { Counters } from '../../driver/counters.js';
import type { ClientConnection, ClientHandler } from '../../net/client-connection.js';
import type { LeaderView, MemberView } from '../../net/member-view.js';
import type { Address, ByteStream } from '../../net/transport.js';
import type { ManualTimers } from './manual-timers.js';
import type { MemoryNetwork } from './memory-transport.js';

export interface LogLine {
  readonly msg: string;
  readonly level: number;
  readonly [key: string]: unknown;
}

export function keptLog(): { readonly logger: Logger; readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const write = (line: string): void => {
    lines.push(JSON.parse(line));
  };
  return { logger: pino({ level: 'info' }, { write }), lines };
}

/** What a leader with two followers has; `memberView` is of a standalone server, which has none. */
export const LEADER_VIEW: LeaderView = {
  learners: 2,
  syncedFollowers: 2,
  syncedObservers: 0,
  pendingSyncs: 0,
  leadsForMs: 10.5,
  proposalSizes: { last: 36, min: 32, max: 98 },
};

export function memberView(changes: Partial<MemberView> = {}): MemberView {
  return {
    version: '3.8.0-rookery-test, built on 2026-01-01 00:00 UTC',
    serving: true,
    mode: 'standalone',
    lastZxid: 0x33,
    nodeCount: 23,
    ephemeralCount: 0,
    approximateDataBytes: 168,
    globalSessions: 3,
    localSessions: 0,
    outstandingRequests: 0,
    uptimeMs: 2154.7,
    watches: { connections: 0, paths: 0, watches: 0, all: 0 },
    sessions: { expiries: [], all: [], local: null },
    quorum: null,
    leader: null,
    configuration: {
      serverId: 0,
      clientPort: 15181,
      secureClientPort: null,
      dataDir: '/data/version-2',
      dataDirBytes: 67109337,
      dataLogDir: '/data/version-2',
      dataLogBytes: 67109337,
      tickTimeMs: 2000,
      maxClientCnxns: 0,
      minSessionTimeoutMs: 4000,
      maxSessionTimeoutMs: 40000,
    },
    openFiles: { count: 39, max: 20_000 },
    digests: [],
    extraMetrics: [],
    health: {
      role: 'leading',
      roleForMs: 1000,
      waitsFor: null,
      isReadOnly: false,
      writeWaitMs: 0,
      writeWaitMsMax: 10_000,
      unapplied: 0,
      diskShortage: null,
      sparedBy: 0,
      damage: null,
      checkpointGivenUp: null,
    },
    details: {
      memberId: 1,
      ensembleId: 'e',
      leaderId: 1,
      epoch: 1,
      backups: null,
      zxids: { logged: 0x33, committed: 0x33, applied: 0x33 },
      treeBytes: 1000,
      treeBytesMax: 1_000_000,
      refusedForDisk: 0,
      counters: new Counters(0),
      diskFreeBytes: null,
      waitingClients: { logins: 0, loginsDelayed: 0, loginsFailed: 0, limited: 0, limitPauses: 0 },
      checkpoint: { zxid: 0, wallMs: 0 },
    },
    summaries: () => [],
    ephemeralOwners: 0,
    ephemerals: () => [],
    watchedPaths: () => [],
    watchingSessions: () => [],
    environment: () => [['host.name', 'localhost']],
    ...changes,
  };
}

/** Notes every event as text; `onFrameDo` and `onRoomDo` answer. */
export class RecordingHandler implements ClientHandler {
  readonly events: string[] = [];
  readonly connections: ClientConnection[] = [];
  onRoomDo: (connection: ClientConnection) => void = () => undefined;
  onFrameDo: (connection: ClientConnection, frame: Uint8Array) => void = () => {};

  onOpen(connection: ClientConnection): void {
    this.connections.push(connection);
    this.events.push(`open ${connection.id}`);
  }

  onFrame(connection: ClientConnection, reader: JuteReader): void {
    const frame = reader.rest();
    this.events.push(`frame ${connection.id} ${Buffer.from(frame).toString('latin1')}`);
    this.onFrameDo(connection, frame);
  }

  onRoom(connection: ClientConnection): void {
    this.events.push(`room ${connection.id}`);
    this.onRoomDo(connection);
  }

  onClosed(connection: ClientConnection): void {
    this.events.push(`closed ${connection.id}`);
  }
}

/** Resolves with the end of a stream that `from`, which is no member, has dialled. */
export async function dialled(
  network: MemoryNetwork,
  timers: ManualTimers,
  { to, from = 'stranger' }: { readonly to: Address; readonly from?: string },
): Promise<FarEnd> {
  const stream = network.transport(from).dial(to, 1_000);
  await timers.advance(1);
  return new FarEnd(await stream);
}

/** The other side of a stream: keeps what it is told. */
export class FarEnd {
  readonly stream: ByteStream;
  readonly chunks: Buffer[] = [];
  hasEnded = false;
  isClosed = false;

  constructor(stream: ByteStream) {
    this.stream = stream;
    stream.handle({
      onData: (chunk) => this.chunks.push(Buffer.from(chunk)),
      onEnd: () => {
        this.hasEnded = true;
      },
      onDrain: () => {},
      onClose: () => {
        this.isClosed = true;
      },
    });
  }

  get text(): string {
    return Buffer.concat(this.chunks).toString('latin1');
  }
}

/** A frame around `text`. */
export function frameOf(text: string): Buffer {
  const frame = Buffer.alloc(4 + Buffer.byteLength(text, 'latin1'));
  frame.writeInt32BE(frame.length - 4, 0);
  frame.write(text, 4, 'latin1');
  return frame;
}
