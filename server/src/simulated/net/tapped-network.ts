/**
 * A network for one member of a test on which everything that it sends is noted, and may be
 * changed. Only imported by tests.
 */
import { FrameReader } from '@rookery/protocol';
import { decodePeerMessage, type LinkMessage } from '@rookery/protocol/peer';
import type { ByteStream, Transport } from '../../net/transport.js';
import type { MemoryNetwork } from './memory-transport.js';

const FRAME_BYTES_MAX = 1 << 20;

export class TappedNetwork {
  readonly #network: MemoryNetwork;
  readonly #change: (bytes: Uint8Array) => Uint8Array;
  readonly #written: { readonly to: string; readonly bytes: Uint8Array }[] = [];

  /** `change` gets what is written at a time, which is whole frames. */
  constructor(network: MemoryNetwork, change = (bytes: Uint8Array) => bytes) {
    this.#network = network;
    this.#change = change;
  }

  transport(host: string): Transport {
    const transport = this.#network.transport(host);
    return {
      listen: transport.listen,
      dial: async (address, timeoutMs, chunks) =>
        this.#tapped(await transport.dial(address, timeoutMs, chunks), address.host),
    };
  }

  /** What was written to this host, piece by piece, on all streams that were dialled. */
  writtenTo(host: string): readonly Uint8Array[] {
    return this.#written.filter(({ to }) => to === host).map(({ bytes }) => bytes);
  }

  kindsTo(host: string): readonly string[] {
    return messagesOf(Buffer.concat(this.writtenTo(host))).map(({ kind }) => kind);
  }

  #tapped(stream: ByteStream, to: string): ByteStream {
    const write = (bytes: Uint8Array): void => {
      const sent = this.#change(bytes);
      this.#written.push({ to, bytes: Uint8Array.from(sent) });
      stream.write(sent);
    };
    return new Proxy(stream, {
      get: (target, name) => {
        if (name === 'write') return write;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }
}

/** The messages of whole frames. */
export function messagesOf(bytes: Uint8Array): LinkMessage[] {
  const reader = new FrameReader(FRAME_BYTES_MAX);
  reader.push(bytes);
  const messages: LinkMessage[] = [];
  for (let frame = reader.nextOwn(); frame !== null; frame = reader.nextOwn()) {
    messages.push(decodePeerMessage(frame));
  }
  return messages;
}

/** Passes everything on in both directions. */
export function relay(near: ByteStream, far: ByteStream): void {
  for (const [from, to] of [
    [near, far],
    [far, near],
  ] as const) {
    from.handle({
      onData: (chunk) => to.write(Uint8Array.from(chunk)),
      onEnd: () => to.end(),
      onDrain: () => {},
      onClose: () => to.destroy(),
    });
  }
}
