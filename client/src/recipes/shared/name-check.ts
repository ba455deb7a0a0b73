/**
 * Checks what a caller gives as the name of a znode, such as the id of a member, before anything is
 * sent. With a slash in it, another znode would be created, which nothing of the recipe reads.
 */
import { validatePath } from '@rookery/protocol';
import { OptionError } from '../../api/errors.js';

/** Throws OptionError unless the text can be, or be the end of, the name of a znode. */
export function checkName(option: string, name: string): void {
  const problem = problemOf(name);
  if (problem === null) return;
  throw new OptionError(
    option,
    `is ${JSON.stringify(name)}, which cannot be a name of a znode: ${problem}`,
  );
}

function problemOf(name: string): string | null {
  if (name === '') return 'it is empty';
  return name.includes('/') ? 'it has a slash' : validatePath(`/${name}`);
}
