/**
 * The looks at the members of the last minutes, and the figures between them. Bounded.
 */
import { type Figures, figuresOf, type Look, type Members } from './member.js';

const LOOKS_MAX = 900;

export interface Point {
  readonly atMs: number;
  /** By the id of a member; a member that did not answer has none. */
  readonly figures: ReadonlyMap<number, Figures>;
}

export class MemberHistory {
  #last: Look | null = null;
  #points: readonly Point[] = [];

  /** The oldest first; another array after each look. */
  get points(): readonly Point[] {
    return this.#points;
  }

  get last(): Look | null {
    return this.#last;
  }

  add(atMs: number, { members }: Members): void {
    const look: Look = { atMs, members };
    const before = this.#last;
    this.#last = look;
    const figures = new Map<number, Figures>();
    for (const { id } of before === null ? [] : members) {
      const known = before === null ? null : figuresOf(id, before, look);
      if (known !== null) figures.set(id, known);
    }
    this.#points = [...this.#points, { atMs, figures }].slice(-LOOKS_MAX);
  }
}

/**
 * One history for each server and person that is asked, so that charts go on where they were when
 * somebody comes back from another page.
 */
export class Histories {
  readonly #of = new WeakMap<object, MemberHistory>();

  of(asked: object): MemberHistory {
    const known = this.#of.get(asked);
    if (known !== undefined) return known;
    const made = new MemberHistory();
    this.#of.set(asked, made);
    return made;
  }
}
