/**
 * The largest and the last of frames that were written together. Called by client connections,
 * which do not count the largest answer when they judge how much a client leaves unread, and say
 * where the last one begins.
 */
import { viewOf } from '@rookery/protocol';

const LENGTH_BYTES = 4;

/** The size of the largest whole frame, its length field included, in bytes. */
export function largestFrameBytes(frames: Uint8Array): number {
  const view = viewOf(frames);
  let largest = 0;
  for (let at = 0; at + LENGTH_BYTES <= frames.length; ) {
    const bytes = LENGTH_BYTES + view.getUint32(at);
    largest = Math.max(largest, bytes);
    at += bytes;
  }
  return largest;
}

/** Where the last frame begins; 0 for a single one. */
export function lastFrameAt(frames: Uint8Array): number {
  const view = viewOf(frames);
  let last = 0;
  for (let at = 0; at + LENGTH_BYTES <= frames.length; at += LENGTH_BYTES + view.getUint32(at)) {
    last = at;
  }
  return last;
}
