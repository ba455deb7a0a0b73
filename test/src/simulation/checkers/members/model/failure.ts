/**
 * How checkers of members describe what they saw: which member, in which incarnation, at which
 * order, with zxids as the logs print them. Text is built only when a property is broken.
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
