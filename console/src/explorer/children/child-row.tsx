/**
 * A child of the open znode, as a row of the table.
 */
import type { ChildFacts } from '../../api/types.js';
import { LongName } from '../long-name.js';
import { nodeHref } from '../open-node.js';
import { childOf, isFixed, shown } from '../paths.js';
import { ageInWords, numberInWords, sizeInWords } from '../words.js';
import { sequenceOf } from './child-list.js';

export interface ChildRowProps {
  readonly parent: string;
  readonly child: ChildFacts | undefined;
  readonly top: number;
  readonly isSelected: boolean;
  readonly onSelect: (name: string) => void;
}

export function ChildRow({ parent, child, top, isSelected, onSelect }: ChildRowProps) {
  if (child === undefined) return null;
  const { name, mode, stat } = child;
  const nowMs = Date.now();
  const sequence = sequenceOf(name);
  const cells =
    stat === null
      ? ['', '', '', '', '']
      : [
          sizeInWords(stat.dataLength),
          numberInWords(stat.numChildren),
          numberInWords(stat.version),
          momentOf(stat.mtime, nowMs),
          momentOf(stat.ctime, nowMs),
        ];
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the link in it has the focus
    <div className="child-row" role="row" style={{ transform: `translateY(${top}px)` }}>
      <span role="cell">
        <input
          type="checkbox"
          aria-label={`Select ${shown(name)}`}
          checked={isSelected}
          disabled={isFixed(childOf(parent, name))}
          onChange={() => onSelect(name)}
        />
      </span>
      <span role="cell" className="child-name">
        <a href={nodeHref(childOf(parent, name))}>
          <LongName name={name} />
        </a>
        {mode === 'ephemeral' ? <span className="badge badge-violet">ephemeral</span> : null}
        {stat === null ? <span className="badge badge-warn">not readable</span> : null}
      </span>
      <span role="cell">{sequence === null ? '' : sequence}</span>
      {cells.map((text, index) => (
        // The cells of a row never change their order.
        // biome-ignore lint/suspicious/noArrayIndexKey: the place is what a cell is known by
        <span key={index} role="cell">
          {text}
        </span>
      ))}
    </div>
  );
}

/** What ZooKeeper made by itself has no time. */
function momentOf(ms: number, nowMs: number): string {
  return ms === 0 ? 'never' : ageInWords(ms, nowMs);
}
