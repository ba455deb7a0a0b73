/**
 * Decides when a leader raises the ensemble level, and carries out a raise on each member.
 *
 * A level is proposed once every configured member, the leader included, is connected and has
 * announced in its hello that it knows the level and is not held below it (`holdLevel`). A member
 * of a release that does not know the level is refused by its hello. If it meets the transaction
 * nevertheless, it ends before it applies it. Called only by the driver.
 */
import type { Hello, PeerId } from '@rookery/protocol';
import { refuseHigherLevel } from '../storage/errors.js';
import type { DriverParts } from './parts.js';

export class EnsembleLevel {
  readonly #parts: DriverParts;
  /** The level that each connected member agrees to. */
  readonly #agreed = new Map<PeerId, number>();
  #toldOf = '';

  constructor(parts: DriverParts) {
    this.#parts = parts;
  }

  onConnected(peer: PeerId, { offer }: Hello): void {
    this.#agreed.set(peer, Math.min(offer.levelAgreed, offer.levelMax));
  }

  onDisconnected(peer: PeerId): void {
    this.#agreed.delete(peer);
  }

  /** Returns the level that a leader is to propose while `level` is in force, or null. */
  next(level: number): number | null {
    const { agreed, others } = this.#parts.options.levels;
    if (level >= agreed) return null;
    let next = agreed;
    for (const peer of others) next = Math.min(next, this.#agreed.get(peer) ?? 0);
    if (next > level) return next;
    this.#tellWhoBlocks(level);
    return null;
  }

  /**
   * Called right before the transaction is applied. Throws FormatError for an unknown level, which
   * ends the member with an explanation.
   */
  raise(level: number): void {
    refuseHigherLevel(level, this.#parts.options.levels.max);
    this.#parts.logger.info({ ensembleLevel: level }, 'level.raised');
    this.#parts.storage.raiseLevel(level);
  }

  /** Logs each set of blocking members once, because a member may be down for weeks. */
  #tellWhoBlocks(level: number): void {
    const { others, agreed } = this.#parts.options.levels;
    const down = others.filter((peer) => !this.#agreed.has(peer));
    const holding = others.filter((peer) => (this.#agreed.get(peer) ?? agreed) <= level);
    const text = `${down.join()} ${holding.join()}`;
    if (text === this.#toldOf) return;
    this.#toldOf = text;
    const facts = { ensembleLevel: level, wanted: agreed, notConnected: down, holding };
    this.#parts.logger.info(facts, 'level.waiting');
  }
}
