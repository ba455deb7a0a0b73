/**
 * `rookery status` shows which server leads, which follow, and how far each one is, for Rookery and
 * for ZooKeeper.
 *
 * Each server is asked `srvr` on its client port, all at the same time. Exit code 0: one leads and
 * all serve; 1: anything else; 2: a mistake of the caller. With `--wait` it asks again until all
 * serve, or the time is over.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { errorMessage } from '@rookery/protocol';
import { visible } from '../terminal/visible-text.js';
import { askWord, type ServerToAsk } from './four-letter-word.js';
import { type NamedAddress, serversOf } from './named-servers.js';
import {
  isFollowing,
  isLeading,
  isReadOnly,
  parseStatus,
  reasonOf,
  type ServerStatus,
} from './server-status.js';

export interface StatusCommand {
  readonly config?: string;
  /** The connect string of a client; its chroot does not count. */
  readonly connect?: string;
  /** Absent for connections without TLS. */
  readonly tls?: ServerToAsk['tls'];
  readonly timeoutMs: number;
  /** How long to wait until all serve; 0 asks once. */
  readonly waitSeconds: number;
  readonly json: boolean;
}

interface AskedServer {
  readonly id: number | null;
  readonly address: string;
  readonly status: ServerStatus | null;
  /** Why there is no status; null if there is one. */
  readonly problem: string | null;
}

const AGAIN_MS = 500;

/** Resolves with the exit code. */
export async function runStatus(command: StatusCommand): Promise<number> {
  const servers = serversOf(command);
  const endMs = performance.now() + command.waitSeconds * 1000;
  for (;;) {
    const asked = await Promise.all(servers.map((server) => look(server, command)));
    const isWell = isServing(asked);
    if (isWell || performance.now() + AGAIN_MS > endMs) {
      process.stdout.write(visible(command.json ? jsonText(asked) : tableText(asked)));
      return isWell ? 0 : 1;
    }
    await sleep(AGAIN_MS);
  }
}

async function look(server: NamedAddress, { timeoutMs, tls }: StatusCommand): Promise<AskedServer> {
  const { id, address } = server;
  try {
    const secured = tls === undefined ? server : { ...server, tls };
    const text = await askWord(secured, 'srvr', timeoutMs);
    const status = parseStatus(text);
    return { id, address, status, problem: status === null ? reasonOf(text) : null };
  } catch (error) {
    const problem = errorMessage(error);
    return { id, address, status: null, problem };
  }
}

function isServing(asked: readonly AskedServer[]): boolean {
  const leaders = asked.filter(({ status }) => isLeading(status));
  return (
    leaders.length === 1 && asked.every(({ status }) => status !== null && !isReadOnly(status))
  );
}

function tableText(asked: readonly AskedServer[]): string {
  const head = ['id', 'address', 'role', 'zxid', 'connections', 'znodes', 'latency avg/max ms', ''];
  const rows = asked.map(({ id, address, status, problem }) => {
    const name = id === null ? '-' : String(id);
    if (status === null) return [name, address, 'none', '', '', '', '', problem ?? ''];
    const { mode, zxid, connections, znodes, latency, version, fullDisk } = status;
    const times = `${latency.avg}/${latency.max}`;
    return [
      name,
      address,
      mode,
      zxid,
      String(connections),
      String(znodes),
      times,
      fullDisk ?? version,
    ];
  });
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const lines = all.map((row) => {
    return row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  });
  return `${lines.join('\n')}\n${verdictOf(asked)}\n`;
}

function verdictOf(asked: readonly AskedServer[]): string {
  const silent = asked.filter(({ status }) => status === null);
  const names = silent.map(({ address }) => address).join(', ');
  const leaders = asked.filter(({ status }) => isLeading(status));
  if (leaders.length === 0) {
    const follower = asked.find(({ status }) => isFollowing(status));
    if (follower === undefined) return 'There is no leader: writes wait until a majority is back.';
    const next = silent.length === 0 ? 'name all servers' : `no service from ${names}`;
    return `${follower.address} follows a leader that is not among the servers that answered: ${next}.`;
  }
  if (leaders.length > 1) {
    return `${leaders.length} servers say that they lead: ask again; if it stays so, they are not one ensemble.`;
  }
  const cutOff = asked.filter(({ status }) => isReadOnly(status));
  const full = asked.filter(({ status }) => (status?.fullDisk ?? null) !== null);
  const parts = [
    `${leaders[0]?.address} leads`,
    ...(silent.length === 0 ? [] : [`no service from ${names}`]),
    ...cutOff.map(({ address }) => `${address} serves only reads, cut off from the quorum`),
    ...full.map(({ address }) => `the disk of ${address} is full`),
  ];
  return parts.length === 1 ? 'All serve.' : `${parts.join('; ')}.`;
}

function jsonText(asked: readonly AskedServer[]): string {
  return `${JSON.stringify({ serving: isServing(asked), servers: asked }, null, 2)}\n`;
}
