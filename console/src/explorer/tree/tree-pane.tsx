/**
 * The tree as a list of rows of which only the visible ones are drawn.
 *
 * The keyboard moves a cursor; the znode under it is opened when the cursor rests, so that a held
 * key asks the server for nothing. What is scrolled to and not loaded yet is asked for.
 */
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { useShortcuts } from '../../keyboard/use-shortcuts.js';
import { openNode } from '../open-node.js';
import { parentOf } from '../paths.js';
import { rowId, TreeRow } from './tree-row.js';
import type { TreeStore } from './tree-store.js';

const ROW_HEIGHT = 26;
/** The cursor rests when it has not moved for so long. */
const REST_MS = 120;

export interface TreePaneProps {
  readonly store: TreeStore;
  readonly path: string;
}

export function TreePane({ store, path }: TreePaneProps) {
  const version = useSyncExternalStore(store.subscribe, store.version);
  const [cursor, setCursor] = useState(path);
  const scroller = useRef<HTMLDivElement>(null);
  const { model } = store;
  const virtualizer = useVirtualizer({
    count: model.rowCount,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 10,
  });
  useEffect(() => setCursor(path), [path]);
  useFollowedCursor({ store, cursor, version, scrollTo: virtualizer.scrollToIndex });
  useRest(cursor, path);
  const items = virtualizer.getVirtualItems();
  const rows = items.map(({ index }) => model.rowAt(index));
  const pending = rows.findLast((row) => row?.kind === 'pending');
  const wanted = pending?.kind === 'pending' ? `${pending.index} ${pending.directory}` : '';
  useEffect(() => {
    if (wanted === '') return;
    const space = wanted.indexOf(' ');
    store.need(wanted.slice(space + 1), Number(wanted.slice(0, space))).catch(reportError);
  }, [store, wanted]);
  useShortcuts([
    {
      keys: 't',
      title: 'Go to the tree',
      group: 'Explorer',
      run: () => scroller.current?.focus(),
    },
  ]);
  return (
    <div
      ref={scroller}
      className="tree"
      role="tree"
      aria-label="Znodes"
      aria-activedescendant={rowId(cursor)}
      tabIndex={0}
      onKeyDown={(event) => onTreeKey(event, { store, cursor, setCursor })}
    >
      <div className="tree-rows" style={{ height: virtualizer.getTotalSize() }}>
        {items.map(({ key, start }, index) => (
          <TreeRow
            key={key}
            row={rows[index] ?? null}
            top={start}
            store={store}
            isActive={isAt(rows[index] ?? null, cursor)}
            isSelected={isAt(rows[index] ?? null, path)}
          />
        ))}
      </div>
    </div>
  );
}

type ShownRow = ReturnType<TreeStore['model']['rowAt']>;

function isAt(row: ShownRow, path: string): boolean {
  return row?.kind === 'node' && row.path === path;
}

interface Followed {
  readonly store: TreeStore;
  readonly cursor: string;
  readonly version: number;
  readonly scrollTo: (index: number) => void;
}

/** Keeps the cursor in sight when it moves, and once its row is loaded. */
function useFollowedCursor({ store, cursor, version, scrollTo }: Followed): void {
  const followed = useRef('');
  // biome-ignore lint/correctness/useExhaustiveDependencies: the row may come with a later version
  useEffect(() => {
    if (followed.current === cursor) return;
    const index = store.model.indexOf(cursor);
    if (index === -1) return;
    followed.current = cursor;
    scrollTo(index);
  }, [store, cursor, version, scrollTo]);
}

function useRest(cursor: string, path: string): void {
  useEffect(() => {
    if (cursor === path) return;
    const timer = setTimeout(() => openNode(cursor, { replace: true }), REST_MS);
    return () => clearTimeout(timer);
  }, [cursor, path]);
}

interface Moves {
  readonly store: TreeStore;
  readonly cursor: string;
  readonly setCursor: (path: string) => void;
}

function onTreeKey(event: KeyboardEvent, moves: Moves): void {
  const { store, cursor } = moves;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { model } = store;
  const at = model.indexOf(cursor);
  const page = Math.max(1, Math.floor(event.currentTarget.clientHeight / ROW_HEIGHT) - 1);
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    PageDown: at + page,
    PageUp: at - page,
    Home: 0,
    End: model.rowCount - 1,
  };
  const next = steps[event.key];
  if (next !== undefined) moveTo(next, moves);
  else if (event.key === 'ArrowRight') stepInto(moves);
  else if (event.key === 'ArrowLeft') stepOut(moves);
  else if (event.key === 'Enter') openNode(cursor);
  else return;
  event.preventDefault();
}

/** A row that is not loaded yet is loaded first, with all before it. */
function moveTo(index: number, { store, setCursor }: Moves): void {
  const bounded = Math.min(store.model.rowCount - 1, Math.max(0, index));
  const row = store.model.rowAt(bounded);
  if (row?.kind === 'node') setCursor(row.path);
  if (row?.kind !== 'pending') return;
  store
    .need(row.directory, row.index)
    .then(() => {
      const loaded = store.model.rowAt(bounded);
      if (loaded?.kind === 'node') setCursor(loaded.path);
    })
    .catch(reportError);
}

function stepInto(moves: Moves): void {
  const { store, cursor } = moves;
  const at = store.model.indexOf(cursor);
  const row = store.model.rowAt(at);
  if (row?.kind !== 'node') {
    // It is open at a link, and the tree is still on its way to it.
    store
      .reveal(cursor)
      .then(() => store.open(cursor))
      .catch(reportError);
    return;
  }
  if (row.isOpen) moveTo(at + 1, moves);
  else if (row.facts.stat?.numChildren !== 0) store.open(cursor).catch(reportError);
}

function stepOut({ store, cursor, setCursor }: Moves): void {
  const row = store.model.rowAt(store.model.indexOf(cursor));
  if (row?.kind === 'node' && row.isOpen && cursor !== '/') store.close(cursor);
  else if (cursor !== '/') setCursor(parentOf(cursor));
}
