/** A number with its noun, for the reports of commands. */

/** `1 znode`, but `0 znodes` and `2 znodes`. The noun is one whose plural ends in s. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
