/**
 * The places of the client port: how many connections one address may have, and which places are
 * kept for addresses that have none.
 *
 * Each connection takes an open file, of which there are few. One address may take all places but
 * an eighth. Half of that eighth is for the first connection of other addresses, and the rest for
 * four-letter words, which take no place for long. A stream takes a place when it sends its first
 * frame. Pure; owned by the client port.
 */
import { addressGroup, isLoopbackAddress } from '../security/address-group.js';

/** The part of all places that one address cannot take. */
const KEPT_PART = 1 / 8;

export interface ClientPlacesOptions {
  /** The number of open streams; a further one is closed by the listener. */
  readonly streamsMax: number;
  /** The number of connections of one address; 0 for no limit. */
  readonly connectionsPerAddressMax: number;
  /** Whether that number holds for loopback addresses, too. */
  readonly boundsLoopback: boolean;
}

export class ClientPlaces {
  /** With more streams than this, one without a session has to go. */
  readonly streamsMax: number;
  readonly #options: ClientPlacesOptions;
  /** Places for every address, and for those that have none. */
  readonly #anyMax: number;
  readonly #firstMax: number;
  /** The connections of each address, or each network of IPv6. */
  readonly #counts = new Map<string, number>();
  #taken = 0;

  constructor(options: ClientPlacesOptions) {
    const { streamsMax } = options;
    const kept = Number.isFinite(streamsMax) ? Math.floor(streamsMax * KEPT_PART) : 0;
    this.#options = options;
    this.#anyMax = streamsMax - kept;
    this.#firstMax = streamsMax - Math.ceil(kept / 2);
    this.streamsMax = streamsMax - Math.ceil(kept / 4);
  }

  /** Why a connection from this address gets no place, for the log; null if it gets one. */
  refusalFor(address: string): Record<string, unknown> | null {
    const { connectionsPerAddressMax: most, boundsLoopback, streamsMax } = this.#options;
    if (address === '') return null;
    const own = this.#counts.get(addressGroup(address)) ?? 0;
    const isBound = most > 0 && (boundsLoopback || !isLoopbackAddress(address));
    if (isBound && own >= most) {
      return { reason: 'too many connections from one address', maxClientCnxns: most };
    }
    if (this.#taken < this.#anyMax || (own === 0 && this.#taken < this.#firstMax)) return null;
    const reason =
      own === 0
        ? 'all places are taken: raise the limit of open files'
        : 'the places that are left are for other addresses: raise the limit of open files';
    return { reason, connections: this.#taken, streamsMax };
  }

  take(address: string): void {
    this.#count(address, 1);
  }

  leave(address: string): void {
    this.#count(address, -1);
  }

  #count(address: string, change: 1 | -1): void {
    // A client within this process has no socket.
    if (address === '') return;
    const group = addressGroup(address);
    const count = (this.#counts.get(group) ?? 0) + change;
    if (count === 0) this.#counts.delete(group);
    else this.#counts.set(group, count);
    this.#taken += change;
  }
}
