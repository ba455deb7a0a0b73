/**
 * Sends `srvr` to a member: whether it serves, whether it leads, and the epoch in which it is.
 *
 * It is the one four-letter word that a ZooKeeper server answers by default.
 */
import { dial, type Host } from '../load/dial.js';

export interface MemberState {
  readonly mode: string;
  readonly epoch: number;
}

const TIMEOUT_MS = 2000;

/** Null if the member does not answer, or does not serve yet. */
export async function askSrvr(host: Host): Promise<MemberState | null> {
  const text = await ask(host);
  const mode = /^Mode: (\w+)/m.exec(text)?.[1];
  const zxid = /^Zxid: 0x([0-9a-f]+)/m.exec(text)?.[1];
  if (mode === undefined || zxid === undefined) return null;
  return { mode, epoch: Number(BigInt(`0x${zxid}`) >> 32n) };
}

export async function statesOf(hosts: readonly Host[]): Promise<readonly (MemberState | null)[]> {
  return await Promise.all(hosts.map(askSrvr));
}

/**
 * Whether two states differ by an election. A member shows epoch 0 until the first transaction
 * reaches it; that is no election. One that does not answer in time tells nothing: a busy member is
 * not a new leader.
 */
export function isElectionBetween(
  before: readonly (MemberState | null)[],
  after: readonly (MemberState | null)[],
): boolean {
  return after.some((member, index) => {
    const was = before[index];
    if (member === null || was === null || was === undefined) return false;
    return member.mode !== was.mode || (was.epoch !== 0 && member.epoch !== was.epoch);
  });
}

/**
 * Returns what is known after a sample: for a member that did not answer, its previous state. While
 * a leader is being elected no member answers, so a change is visible only between the states
 * before and after.
 */
export function knownAfter(
  before: readonly (MemberState | null)[],
  look: readonly (MemberState | null)[],
): readonly (MemberState | null)[] {
  return look.map((state, index) => state ?? before[index] ?? null);
}

function ask(host: Host): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = dial(host, { onOpen: () => void socket.write('srvr') });
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy());
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text));
  });
}
