/**
 * The dot in the colour of a member's line in the charts.
 */
import { colourOf } from './series.js';

export function SeriesDot({ member }: { readonly member: number }) {
  const background = `var(${colourOf(member)})`;
  return <span className="series-dot" style={{ background }} aria-hidden="true" />;
}
