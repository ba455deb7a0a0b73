/**
 * A mutant: one small deliberate bug in the product's source, and the property that it breaks.
 *
 * A mutant shows the code that it changes and the code that it puts there, and names the function
 * where that is. Files, layout and comments do not matter (sources.ts finds the place), but a
 * change to the code itself is noticed (`mutants.test.ts`). Pure; it never touches a file.
 */

export const AREAS = [
  'architecture',
  'zab',
  'storage',
  'pipeline',
  'sessions',
  'state',
  'driver',
  'named',
] as const;
export type Area = (typeof AREAS)[number];

export interface Edit {
  /** What contains the place, as the sources call it: `Class.member` or `name`. */
  readonly in: string;
  /**
   * An expression, or consecutive statements or members, which occur once there. A name such as
   * `$BODY` stands for any one expression or statement, whatever the source has.
   */
  readonly find: string;
  /** What takes its place; a `$BODY` in it is the code that the one in `find` stands for. */
  readonly replace: string;
}

export interface Mutant extends Edit {
  /** In kebab-case, unique. */
  readonly name: string;
  readonly area: Area;
  /** The promise that it breaks, in words. */
  readonly breaks: string;
  /** Further edits of the same bug, for those that take more than one. */
  readonly also?: readonly Edit[];
  /**
   * `path=json` settings of a run's options, for a bug that shows only in few situations: every
   * second seed uses one of them.
   */
  readonly aim?: readonly string[];
}

export function editsOf(mutant: Mutant): readonly Edit[] {
  return [mutant, ...(mutant.also ?? [])];
}
