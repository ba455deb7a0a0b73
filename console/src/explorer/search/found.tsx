/**
 * What a search has found so far, as a list that the keyboard can walk along.
 */
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useRef, useState } from 'react';
import type { FoundNode } from '../../api/types.js';
import { useConsole } from '../../console-context.js';
import { ProblemNotice } from '../../ui/notice.js';
import { openNode } from '../open-node.js';
import { nameOf, parentOf, shown } from '../paths.js';
import { counted, sizeInWords } from '../words.js';
import { marksIn, type Parsed } from './search-query.js';
import { type SearchState, useSearch } from './use-search.js';

const ROW_HEIGHT = 42;

export interface FoundProps {
  readonly parsed: Exclude<Parsed, { readonly kind: 'empty' }>;
  /** The znode that is open. */
  readonly path: string;
  readonly onEnd: () => void;
}

export function Found({ parsed, path, onEnd }: FoundProps) {
  const { api } = useConsole();
  const state = useSearch(api, parsed.kind === 'query' ? parsed.query : null);
  if (parsed.kind === 'wrong') return <p className="found-status">{parsed.sentence}</p>;
  return (
    <>
      <output className="found-status">{statusOf(state)}</output>
      <ProblemNotice error={state.error} />
      <FoundList found={state.found} text={parsed.text} path={path} onEnd={onEnd} />
    </>
  );
}

function statusOf({ found, isRunning, cut, error }: SearchState): string {
  if (error !== null) return '';
  const count = counted(found.length, 'znode');
  if (isRunning) return `${count} so far …`;
  return cut === null ? `${count} in all` : `${count}; not all was searched: ${cut}`;
}

interface FoundListProps {
  readonly found: readonly FoundNode[];
  readonly text: string;
  readonly path: string;
  readonly onEnd: () => void;
}

function FoundList({ found, text, path, onEnd }: FoundListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [cursor, setCursor] = useState(0);
  const virtualizer = useVirtualizer({
    count: found.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 8,
  });
  const onKeyDown = (event: KeyboardEvent): void => {
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: cursor + 1,
      ArrowUp: cursor - 1,
      Home: 0,
      End: found.length - 1,
    };
    const next = steps[event.key];
    if (event.key === 'Escape') onEnd();
    else if (event.key === 'Enter') openNode(found[cursor]?.path ?? path);
    else if (next !== undefined) {
      const bounded = Math.min(found.length - 1, Math.max(0, next));
      setCursor(bounded);
      virtualizer.scrollToIndex(bounded);
    } else return;
    event.preventDefault();
  };
  return (
    <div
      ref={scroller}
      className="found-list"
      role="listbox"
      aria-label="Found znodes"
      aria-activedescendant={`found-${cursor}`}
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      <div className="tree-rows" style={{ height: virtualizer.getTotalSize() }}>
        {virtualizer.getVirtualItems().map(({ index, key, start }) => (
          <FoundRow
            key={key}
            index={index}
            text={text}
            top={start}
            node={found[index]}
            isActive={index === cursor}
            isSelected={found[index]?.path === path}
          />
        ))}
      </div>
    </div>
  );
}

interface FoundRowProps {
  readonly index: number;
  readonly node: FoundNode | undefined;
  readonly text: string;
  readonly top: number;
  readonly isActive: boolean;
  readonly isSelected: boolean;
}

function FoundRow({ index, node, text, top, isActive, isSelected }: FoundRowProps) {
  if (node === undefined) return null;
  const classes = ['found-row', isActive ? 'is-active' : '', isSelected ? 'is-selected' : ''];
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the keyboard
    // biome-ignore lint/a11y/useFocusableInteractive: the list has the keyboard
    <div
      id={`found-${index}`}
      className={classes.join(' ').trim()}
      role="option"
      aria-selected={isSelected}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => openNode(node.path)}
    >
      <span className="found-name">
        <Marked name={nameOf(node.path)} text={text} />
      </span>
      <span className="found-where">{shown(parentOf(node.path))}</span>
      {node.stat === null ? null : (
        <span className="found-size">{sizeInWords(node.stat.dataLength)}</span>
      )}
    </div>
  );
}

function Marked({ name, text }: { readonly name: string; readonly text: string }) {
  const parts: { readonly text: string; readonly isMarked: boolean; readonly at: number }[] = [];
  let at = 0;
  for (const [start, end] of marksIn(name, text)) {
    parts.push({ text: name.slice(at, start), isMarked: false, at });
    parts.push({ text: name.slice(start, end), isMarked: true, at: start });
    at = end;
  }
  parts.push({ text: name.slice(at), isMarked: false, at });
  return parts.map((part) =>
    part.isMarked ? <mark key={part.at}>{shown(part.text)}</mark> : shown(part.text),
  );
}
