/**
 * One connection full of garbage, and a check whether the member handled it well.
 *
 * Everything is sent at once. If all frames are intact, the member must close the connection or
 * answer the ping at the end; otherwise it may legitimately wait for bytes that never come.
 */
import { connect } from 'node:net';
import { FrameReader, PING_XID } from '@rookery/protocol';
import { deferred, within } from '../harness/wait.js';

export interface Attack {
  readonly port: number;
  readonly bytes: Uint8Array;
  readonly mustAnswer: boolean;
  /** Ends by a reset instead of an orderly close. */
  readonly resets: boolean;
}

export type Outcome = 'answered' | 'closed' | 'left';

const ANSWER_DEADLINE_MS = 60_000;
const LEAVE_AFTER_MS = 20;
const REPLY_BYTES_MAX = 64 * 1024 * 1024;
/** A complete ping. */
const PING = Uint8Array.of(0, 0, 0, 8, 0xff, 0xff, 0xff, 0xfe, 0, 0, 0, 11);

export async function attack({ port, bytes, mustAnswer, resets }: Attack) {
  const outcome = deferred<Outcome>();
  const socket = connect({ host: '127.0.0.1', port, noDelay: true });
  const frames = new FrameReader(REPLY_BYTES_MAX);
  let seen = 0;
  socket.on('error', () => outcome.resolve('closed'));
  socket.on('end', () => outcome.resolve('closed'));
  socket.on('close', () => outcome.resolve('closed'));
  socket.on('data', (chunk: Buffer) => {
    frames.push(chunk);
    for (let frame = frames.next(); frame !== null; frame = frames.next()) {
      seen += 1;
      // The answer to the handshake has no header.
      if (seen > 1 && frame.length === 16 && xidOf(frame) === PING_XID) outcome.resolve('answered');
    }
  });
  socket.write(bytes);
  socket.write(PING);
  const leaving = mustAnswer
    ? undefined
    : setTimeout(() => outcome.resolve('left'), LEAVE_AFTER_MS);
  try {
    const what = 'an answer to garbage, or an end';
    return { outcome: await within(what, ANSWER_DEADLINE_MS, outcome.promise), replies: seen };
  } finally {
    clearTimeout(leaving);
    // A socket that is already shutting down cannot be reset: its handle would remain forever.
    if (resets && !socket.readableEnded && !socket.destroyed) socket.resetAndDestroy();
    else socket.destroy();
  }
}

function xidOf(frame: Uint8Array): number {
  return new DataView(frame.buffer, frame.byteOffset).getInt32(0);
}
