/**
 * The left side of the explorer: the field to search by, and below it the tree, or what was found.
 */
import { useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import '../tree/tree.css';
import { useConsole } from '../../console-context.js';
import { useShortcuts } from '../../keyboard/use-shortcuts.js';
import { Icon } from '../../ui/icon.js';
import { TreePane } from '../tree/tree-pane.js';
import type { TreeStore } from '../tree/tree-store.js';
import { Found } from './found.js';
import { parsedSearch } from './search-query.js';

export interface LeftPaneProps {
  readonly store: TreeStore;
  readonly path: string;
}

export function LeftPane({ store, path }: LeftPaneProps) {
  const { can } = useConsole();
  const [typed, setTyped] = useState('');
  const field = useRef<HTMLInputElement>(null);
  const canSearch = can('GET', '/search');
  const parsed = parsedSearch(canSearch ? typed : '');
  useShortcuts(
    canSearch
      ? [
          {
            keys: '/',
            title: 'Search the whole tree',
            group: 'Explorer',
            run: () => field.current?.select(),
          },
        ]
      : [],
  );
  const endSearch = (): void => {
    // The tree is there only once the search is gone.
    flushSync(() => setTyped(''));
    document.querySelector<HTMLElement>('.tree')?.focus();
  };
  return (
    <div className="left-pane">
      {canSearch ? (
        <search className="search-field">
          <Icon name="search" />
          <input
            ref={field}
            className="input"
            type="search"
            aria-label="Search the whole tree"
            placeholder="Search the tree   ( / )"
            spellCheck={false}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Escape') {
                endSearch();
              }
              if (event.key === 'ArrowDown') {
                event.preventDefault();
                document.querySelector<HTMLElement>('.found-list')?.focus();
              }
            }}
          />
        </search>
      ) : null}
      {parsed.kind === 'empty' ? (
        <TreePane store={store} path={path} />
      ) : (
        <Found parsed={parsed} path={path} onEnd={endSearch} />
      )}
    </div>
  );
}
