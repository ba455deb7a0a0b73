/**
 * A mutant: one small deliberate bug in the server's source, and the property that it breaks.
 *
 * It is text, so that a mutant is read beside the code that it changes, and so that a refactoring
 * of that code is noticed (`mutants.test.ts`). Pure; it never touches a file.
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
  /** The path in server/src, with slashes. */
  readonly file: string;
  /** Exact text, which occurs once in the file. */
  readonly find: string;
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

/** Returns the text with the edit made; throws if the edit does not fit, and names the mutant. */
export function edited(name: string, edit: Edit, text: string): string {
  const parts = text.split(edit.find);
  if (parts.length !== 2) {
    const times = parts.length - 1;
    throw new Error(`${name}: its text occurs ${times} times in ${edit.file}, not once`);
  }
  if (edit.replace === edit.find) throw new Error(`${name} changes nothing`);
  return parts.join(edit.replace);
}
