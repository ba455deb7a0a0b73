/**
 * The looks at the members of the last minutes, and the figures between them. Bounded.
 */
import { type Figures, figuresOf, type Look } from './member.js';

const LOOKS_MAX = 900;

export interface Point {
  readonly atMs: number;
  /** The figures by the id of the member; a member that did not answer has none. */
  readonly figures: ReadonlyMap<number, Figures>;
}

export class MemberHistory {
  #last: Look | null = null;
  #points: readonly Point[] = [];

  /** The oldest first; another array after each look. */
  get points(): readonly Point[] {
    return this.#points;
  }

  add(look: Look): void {
    const figures = new Map<number, Figures>();
    for (const { id } of look.members) {
      const known = this.#last === null ? null : figuresOf(id, this.#last, look);
      if (known !== null) figures.set(id, known);
    }
    this.#last = look;
    this.#points = [...this.#points, { atMs: look.atMs, figures }].slice(-LOOKS_MAX);
  }
}
