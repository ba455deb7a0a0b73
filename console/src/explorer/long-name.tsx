/**
 * A name of a znode that is cut in its middle where it is too long: names of one directory mostly
 * begin alike, and the number that tells them apart is at the end.
 */
import { shown } from './paths.js';

/** Shorter names are cut at their end, if at all. */
const LONG = 32;
const TAIL = 15;

export function LongName({ name }: { readonly name: string }) {
  const whole = shown(name);
  if (whole.length <= LONG) return <span className="name">{whole}</span>;
  return (
    <span className="name name-long" title={whole}>
      <span className="name-head">{whole.slice(0, -TAIL)}</span>
      <span className="name-tail">{whole.slice(-TAIL)}</span>
    </span>
  );
}
