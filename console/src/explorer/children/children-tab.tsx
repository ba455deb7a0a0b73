/**
 * The children of the open znode as a table that can be sorted, of which only the visible rows are
 * made.
 */
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef, useState } from 'react';
import './children.css';
import { isAborted } from '../../api/problem.js';
import type { ChildFacts, NodeFacts } from '../../api/types.js';
import { useConsole } from '../../console-context.js';
import type { Order } from '../../live/order.js';
import { ProblemNotice } from '../../ui/notice.js';
import { LongName } from '../long-name.js';
import { nodeHref } from '../open-node.js';
import { childOf } from '../paths.js';
import { ageInWords, counted, numberInWords, sizeInWords } from '../words.js';
import {
  BY_NAME,
  COLUMNS,
  type Column,
  isOwnOrder,
  type Loaded,
  loadedTo,
  NOTHING,
  SORTED_MAX,
  sequenceOf,
  sorted,
} from './child-list.js';

const ROW_HEIGHT = 28;
/** Rows that are loaded beyond those that are seen. */
const AHEAD = 100;

const TITLES: Readonly<Record<Column, string>> = {
  name: 'Name',
  sequence: 'Sequence',
  size: 'Size',
  children: 'Children',
  version: 'Version',
  changed: 'Changed',
  created: 'Created',
};

export function ChildrenTab({ path, facts }: { readonly path: string; readonly facts: NodeFacts }) {
  const [order, setOrder] = useState(BY_NAME);
  const [wanted, setWanted] = useState(0);
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
  return (
    <div className="children-tab">
      <div className="children-status soft">
        {counted(facts.stat.numChildren, 'child', 'children')}
        {isCut ? `; sorted are the first ${numberInWords(rows.length)}` : ''}
      </div>
      <ProblemNotice error={error} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must scroll it */}
      <div ref={scroller} className="children-list" tabIndex={0} role="table" aria-label="Children">
        {/* biome-ignore lint/a11y/useFocusableInteractive: the buttons in it have the focus */}
        <div className="child-row child-head" role="row">
          {COLUMNS.map((column) => (
            <Heading key={column} column={column} order={order} onOrder={setOrder} />
          ))}
        </div>
        <div className="tree-rows" role="rowgroup" style={{ height: virtualizer.getTotalSize() }}>
          {items.map(({ index, key, start }) => (
            <ChildRow key={key} parent={path} child={rows[index]} top={start} />
          ))}
        </div>
      </div>
    </div>
  );
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

interface ChildRowProps {
  readonly parent: string;
  readonly child: ChildFacts | undefined;
  readonly top: number;
}

function ChildRow({ parent, child, top }: ChildRowProps) {
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
