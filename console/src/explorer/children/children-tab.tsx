/**
 * The children of the open znode as a table that can be sorted, of which only the visible rows are
 * made.
 */
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef, useState } from 'react';
import './children.css';
import { isAborted } from '../../api/problem.js';
import type { NodeFacts } from '../../api/types.js';
import { useConsole } from '../../console-context.js';
import type { Order } from '../../live/order.js';
import { ProblemNotice } from '../../ui/notice.js';
import { childOf, isFixed } from '../paths.js';
import { counted, numberInWords } from '../words.js';
import {
  BY_NAME,
  COLUMNS,
  type Column,
  isOwnOrder,
  type Loaded,
  loadedTo,
  NOTHING,
  SORTED_MAX,
  sorted,
} from './child-list.js';
import { ChildRow } from './child-row.js';
import { SelectAll, SelectionBar } from './selection.js';

const ROW_HEIGHT = 28;
/** Rows that are loaded beyond those that are seen. */
const AHEAD = 100;

const NO_NAMES: ReadonlySet<string> = new Set();

const TITLES: Readonly<Record<Column, string>> = {
  name: 'Name',
  sequence: 'Sequence',
  size: 'Size',
  children: 'Children',
  version: 'Version',
  changed: 'Changed',
  created: 'Created',
};

export interface ChildrenTabProps {
  readonly path: string;
  readonly facts: NodeFacts;
  /** Children may have been deleted. */
  readonly onChanged: () => void;
}

export function ChildrenTab({ path, facts, onChanged }: ChildrenTabProps) {
  const [order, setOrder] = useState(BY_NAME);
  const [wanted, setWanted] = useState(0);
  const [selected, setSelected] = useState(NO_NAMES);
  const { loaded, error } = useLoaded(facts, isOwnOrder(order) ? wanted : SORTED_MAX);
  const rows = useMemo(
    () => (isOwnOrder(order) ? loaded.children : sorted(loaded.children, order)),
    [loaded, order],
  );
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 10,
  });
  const items = virtualizer.getVirtualItems();
  const last = (items.at(-1)?.index ?? 0) + AHEAD;
  useEffect(() => setWanted((before) => Math.max(before, last)), [last]);
  const isCut = !isOwnOrder(order) && loaded.next !== null;
  const selectable = useMemo(
    () => loaded.children.map(({ name }) => name).filter((name) => !isFixed(childOf(path, name))),
    [loaded, path],
  );
  // What has gone meanwhile is not selected any more.
  const chosen = useMemo(
    () => selectable.filter((name) => selected.has(name)),
    [selectable, selected],
  );
  return (
    <div className="children-tab">
      <div className="children-status soft">
        {counted(facts.stat.numChildren, 'child', 'children')}
        {isCut ? `; sorted are the first ${numberInWords(rows.length)}` : ''}
        <SelectionBar
          parent={path}
          facts={facts}
          names={chosen}
          onChanged={onChanged}
          onClear={() => setSelected(NO_NAMES)}
        />
      </div>
      <ProblemNotice error={error} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must scroll it */}
      <div ref={scroller} className="children-list" tabIndex={0} role="table" aria-label="Children">
        {/* biome-ignore lint/a11y/useFocusableInteractive: the buttons in it have the focus */}
        <div className="child-row child-head" role="row">
          <SelectAll
            count={selectable.length}
            chosen={chosen.length}
            onChange={(isOn) => setSelected(isOn ? new Set(selectable) : NO_NAMES)}
          />
          {COLUMNS.map((column) => (
            <Heading key={column} column={column} order={order} onOrder={setOrder} />
          ))}
        </div>
        <div className="tree-rows" role="rowgroup" style={{ height: virtualizer.getTotalSize() }}>
          {items.map(({ index, key, start }) => (
            <ChildRow
              key={key}
              parent={path}
              child={rows[index]}
              top={start}
              isSelected={selected.has(rows[index]?.name ?? '')}
              onSelect={(name) => setSelected((before) => toggled(before, name))}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

function toggled(before: ReadonlySet<string>, name: string): ReadonlySet<string> {
  const after = new Set(before);
  if (!after.delete(name)) after.add(name);
  return after;
}

interface HeadingProps {
  readonly column: Column;
  readonly order: Order<Column>;
  readonly onOrder: (order: Order<Column>) => void;
}

function Heading({ column, order, onOrder }: HeadingProps) {
  const isOrdered = order.column === column;
  const direction = order.isDescending ? 'descending' : 'ascending';
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the button in it has the focus
    <span role="columnheader" aria-sort={isOrdered ? direction : 'none'}>
      <button
        type="button"
        className="child-sort"
        onClick={() => onOrder({ column, isDescending: isOrdered && !order.isDescending })}
      >
        {TITLES[column]}
        {isOrdered ? (order.isDescending ? ' ↓' : ' ↑') : ''}
      </button>
    </span>
  );
}

/** Loads as many children as are wanted, and again when the list has changed. */
function useLoaded({ path, stat }: NodeFacts, wanted: number) {
  const { api } = useConsole();
  const [loaded, setLoaded] = useState<Loaded>(NOTHING);
  const [error, setError] = useState<unknown>(null);
  const known = useRef<{ readonly cversion: number; readonly loaded: Loaded } | null>(null);
  const { cversion } = stat;
  useEffect(() => {
    const end = new AbortController();
    const from = known.current?.cversion === cversion ? known.current.loaded : NOTHING;
    if (from.next === null || from.children.length >= wanted) return;
    loadedTo(api, path, { from, count: wanted, signal: end.signal })
      .then((made) => {
        if (end.signal.aborted) return;
        known.current = { cversion, loaded: made };
        setLoaded(made);
        setError(null);
      })
      .catch((problem: unknown) => {
        if (!isAborted(problem)) setError(problem);
      });
    return () => end.abort();
  }, [api, path, cversion, wanted]);
  return { loaded, error };
}
