/**
 * The three-way merge of an edit with what somebody else wrote in the meantime, by lines.
 */
import { diff3Merge } from 'node-diff3';

export type Region =
  /** Both have it, or one alone has changed it. */
  | { readonly kind: 'agreed'; readonly lines: readonly string[] }
  | {
      readonly kind: 'conflict';
      readonly mine: readonly string[];
      readonly base: readonly string[];
      readonly theirs: readonly string[];
    };

export type Choice = 'mine' | 'theirs' | 'both' | 'base';

/** More lines would take too long in the worst case. */
export const LINES_MAX = 5_000;

export interface Versions {
  readonly base: string;
  readonly mine: string;
  readonly theirs: string;
}

/** Null if a text has more than LINES_MAX lines; then it is one whole or the other. */
export function mergedRegions({ base, mine, theirs }: Versions): readonly Region[] | null {
  const [a, o, b] = [mine, base, theirs].map((text) => text.split('\n'));
  if (a === undefined || o === undefined || b === undefined) return null;
  if ([a, o, b].some((lines) => lines.length > LINES_MAX)) return null;
  const regions = diff3Merge(a, o, b, { excludeFalseConflicts: true });
  return regions.map(({ ok, conflict }): Region => {
    if (conflict === undefined) return { kind: 'agreed', lines: ok ?? [] };
    return { kind: 'conflict', mine: conflict.a, base: conflict.o, theirs: conflict.b };
  });
}

export function conflictCount(regions: readonly Region[]): number {
  return regions.filter(({ kind }) => kind === 'conflict').length;
}

/** The text that the choices make; `choices` has one for each conflict, in their order. */
export function mergedText(regions: readonly Region[], choices: readonly Choice[]): string {
  let next = 0;
  const lines = regions.flatMap((region): readonly string[] => {
    if (region.kind === 'agreed') return region.lines;
    const choice = choices[next] ?? 'mine';
    next += 1;
    return choice === 'both' ? [...region.mine, ...region.theirs] : region[choice];
  });
  return lines.join('\n');
}
