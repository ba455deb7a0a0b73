/**
 * How checkers of members say what they saw: who, in which life, at which order, with zxids as the
 * logs print them. Text is made only when a property is broken.
 */
import { formatZxid } from '@rookery/protocol';
import { PropertyBroken } from '../../../contract/checker.js';
import type { OfMember } from '../../../contract/observation.js';

export { formatZxid };

export function broken(property: string, seen: OfMember, what: string): PropertyBroken {
  const { order, atMs, member, incarnation } = seen;
  const who = `member ${member} (life ${incarnation})`;
  return new PropertyBroken(property, `${who} ${what} [order ${order}, ${atMs} ms]`);
}
