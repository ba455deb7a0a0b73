/**
 * One field to go anywhere and do anything: bookmarks, what was open lately, pages, and every
 * action that has a key, found as fzf finds. A path that is typed leads to its znode.
 */
import { Fzf, type FzfResultItem } from 'fzf';
import { useEffect, useState } from 'react';
import { useConsole } from '../console-context.js';
import { Keys } from '../keyboard/help.js';
import { useRegistry } from '../keyboard/use-shortcuts.js';
import { Dialog } from '../ui/dialog.js';
import { completions } from './address/completion.js';
import { bookmarks, visits } from './address/places.js';
import { openNode } from './open-node.js';
import { shown, withoutSlashes } from './paths.js';

const SHOWN_MAX = 40;

interface Entry {
  readonly text: string;
  readonly kind: 'bookmark' | 'lately' | 'znode' | 'action';
  readonly keys: string | null;
  readonly run: () => void;
}

export interface PaletteProps {
  readonly path: string;
  readonly onClose: () => void;
}

export function Palette({ path, onClose }: PaletteProps) {
  const [typed, setTyped] = useState('');
  const [chosen, setChosen] = useState(0);
  const entries = useEntries(typed, path);
  const matches = new Fzf<readonly Entry[]>(entries, {
    selector: ({ text }: Entry) => text,
    limit: SHOWN_MAX,
  }).find(typed);
  const runIt = (entry: Entry | undefined): void => {
    if (entry === undefined) return;
    onClose();
    // What it opens must find the focus where it was before the dialog.
    queueMicrotask(entry.run);
  };
  return (
    <Dialog title="Go anywhere" onClose={onClose} onSubmit={() => runIt(matches[chosen]?.item)}>
      <input
        className="input input-code"
        role="combobox"
        aria-label="Path or action"
        aria-expanded={matches.length > 0}
        aria-controls="palette-list"
        aria-activedescendant={`palette-${chosen}`}
        placeholder="A path, a bookmark, an action"
        spellCheck={false}
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
          setChosen(0);
        }}
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown') setChosen(Math.min(matches.length - 1, chosen + 1));
          else if (event.key === 'ArrowUp') setChosen(Math.max(0, chosen - 1));
          else return;
          event.preventDefault();
        }}
      />
      <div id="palette-list" className="palette" role="listbox" aria-label="Found">
        {matches.map(({ item }: FzfResultItem<Entry>, index: number) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keyboard
          // biome-ignore lint/a11y/useFocusableInteractive: the field has the keyboard
          <div
            key={`${item.kind} ${item.text}`}
            id={`palette-${index}`}
            className={index === chosen ? 'offer is-active' : 'offer'}
            role="option"
            aria-selected={index === chosen}
            onClick={() => runIt(item)}
          >
            <span className={item.kind === 'action' ? '' : 'code'}>{shown(item.text)}</span>
            <span className="faint">
              {item.keys === null ? item.kind : <Keys keys={item.keys} />}
            </span>
          </div>
        ))}
      </div>
    </Dialog>
  );
}

function useEntries(typed: string, path: string): readonly Entry[] {
  const { api } = useConsole();
  const registry = useRegistry();
  const [paths, setPaths] = useState<readonly string[]>([]);
  useEffect(() => {
    if (!typed.startsWith('/')) {
      setPaths([]);
      return;
    }
    const end = new AbortController();
    completions(api, typed, end.signal)
      .then((found) => setPaths([withoutSlashes(typed) || '/', ...found]))
      // Where the directory cannot be read, bookmarks and actions remain.
      .catch(() => undefined);
    return () => end.abort();
  }, [api, typed]);
  const places = (kind: Entry['kind'], list: readonly string[]): Entry[] =>
    list.map((text) => ({ text, kind, keys: null, run: () => openNode(text) }));
  const actions = registry
    .active()
    .map(({ title, keys, run }): Entry => ({ text: title, kind: 'action', keys, run }));
  const marked = bookmarks();
  const lately = visits().filter((one) => one !== path && !marked.includes(one));
  const known = new Set([...marked, ...lately]);
  const asked = [...new Set(paths)].filter((one) => !known.has(one));
  return [
    ...places('bookmark', marked),
    ...places('lately', lately),
    ...places('znode', asked),
    ...actions,
  ];
}
