/**
 * Asks a member `srvr`: whether it serves, whether it leads, and the epoch it is in.
 *
 * The one four-letter word that a ZooKeeper answers by default.
 */
import net from 'node:net';
import type { Host } from './connection.js';

export interface MemberState {
  readonly mode: string;
  readonly epoch: number;
}

const TIMEOUT_MS = 2000;

/** Null when the member does not answer, or does not serve yet. */
export async function askSrvr(host: Host): Promise<MemberState | null> {
  const text = await ask(host);
  const mode = /^Mode: (\w+)/m.exec(text)?.[1];
  const zxid = /^Zxid: 0x([0-9a-f]+)/m.exec(text)?.[1];
  if (mode === undefined || zxid === undefined) return null;
  return { mode, epoch: Number(BigInt(`0x${zxid}`) >> 32n) };
}

function ask(host: Host): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = net.connect(host);
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy());
    socket.on('connect', () => socket.write('srvr'));
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text));
  });
}
