/**
 * The keyboard of the console: which keys do what, in one place, which the help lists.
 *
 * A shortcut is one key or two in a row, such as `g r`, written as `KeyboardEvent.key` has them;
 * `Mod+` stands for Ctrl, and for Command on a Mac. While somebody types into a field, only
 * shortcuts with `Mod+` count, and Escape. The newest registration of a key wins, so a dialog or a
 * page can take a key over while it is there.
 */
export interface Shortcut {
  readonly keys: string;
  /** What it does, for the help, such as "Search the tree". */
  readonly title: string;
  /** The heading in the help. */
  readonly group: string;
  readonly run: () => void;
}

export interface KeyPress {
  readonly key: string;
  readonly hasMod: boolean;
  readonly hasAlt: boolean;
  /** Whether the keys go into a field. */
  readonly isTyping: boolean;
}

/** The first of two keys counts for this long. */
const SEQUENCE_MS = 1_500;

export class Shortcuts {
  readonly #registered: Shortcut[] = [];
  #first = '';
  #firstAtMs = Number.NEGATIVE_INFINITY;

  /** Returns the function that takes them away again. */
  register(shortcuts: readonly Shortcut[]): () => void {
    this.#registered.push(...shortcuts);
    return () => {
      for (const one of shortcuts) this.#registered.splice(this.#registered.indexOf(one), 1);
    };
  }

  /** Returns the shortcuts that would run now, in the order of their registration. */
  active(): readonly Shortcut[] {
    const byKeys = new Map<string, Shortcut>();
    for (const one of this.#registered) byKeys.set(one.keys, one);
    return [...byKeys.values()];
  }

  /** The shortcut that this key completes; null if it completes none. */
  match(press: KeyPress, nowMs: number): Shortcut | null {
    const isForField = press.isTyping && !press.hasMod && press.key !== 'Escape';
    if (press.hasAlt || isForField) return null;
    const name = press.hasMod ? `Mod+${press.key}` : press.key;
    const isSecond = this.#first !== '' && nowMs - this.#firstAtMs <= SEQUENCE_MS;
    const whole = isSecond ? `${this.#first} ${name}` : name;
    this.#first = '';
    const found = this.#registered.findLast(({ keys }) => keys === whole);
    if (found !== undefined) return found;
    if (this.#registered.some(({ keys }) => keys.startsWith(`${name} `))) {
      this.#first = name;
      this.#firstAtMs = nowMs;
    }
    return null;
  }
}
