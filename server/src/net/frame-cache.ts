/**
 * Encodes each message once, however many links it is sent on.
 *
 * Remembers the last few messages by identity until `clear`, which the port calls at each flush: a
 * proposal that goes to every follower in a turn is packed once and its bytes are shared.
 */
import { assert, type PeerMessage } from '@rookery/protocol';
import { encodePeerFrame } from '@rookery/protocol/peer';

const REMEMBERED_MAX = 8;
const LENGTH_BYTES = 4;

export class FrameCache {
  readonly #frameBytesMax: number;
  readonly #messages: (PeerMessage | null)[] = [];
  readonly #versions: number[] = [];
  readonly #frames: Uint8Array[] = [];
  #next = 0;

  constructor(frameBytesMax: number) {
    this.#frameBytesMax = frameBytesMax;
  }

  /**
   * The message as a frame with its length, for links of this wire version; shared, so never to be
   * written to. Members of two versions get a frame each, made anew where they take turns.
   */
  frameOf(message: PeerMessage, version: number): Uint8Array {
    const index = this.#messages.indexOf(message);
    const known = this.#versions[index] === version ? this.#frames[index] : undefined;
    if (known !== undefined) return known;
    const frame = encodePeerFrame(message, version);
    const bytes = frame.length - LENGTH_BYTES;
    assert(
      bytes <= this.#frameBytesMax,
      () => `a ${message.kind} of ${bytes} bytes fits a frame of ${this.#frameBytesMax}`,
    );
    const place = index === -1 ? this.#next : index;
    this.#messages[place] = message;
    this.#versions[place] = version;
    this.#frames[place] = frame;
    if (index === -1) this.#next = (this.#next + 1) % REMEMBERED_MAX;
    return frame;
  }

  clear(): void {
    this.#messages.length = 0;
    this.#versions.length = 0;
    this.#frames.length = 0;
    this.#next = 0;
  }
}
