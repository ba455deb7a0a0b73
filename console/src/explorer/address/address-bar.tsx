/**
 * Where one is: each znode on the way as a link, and a field to type a path into, with completion.
 */
import { Fragment, useEffect, useState } from 'react';
import { useConsole } from '../../console-context.js';
import { useShortcuts } from '../../keyboard/use-shortcuts.js';
import { Icon } from '../../ui/icon.js';
import { nodeHref, openNode } from '../open-node.js';
import { lineOf, nameOf, parentOf, shown, withoutSlashes, wrongPath } from '../paths.js';
import { commonBeginning, completions } from './completion.js';
import { bookmarks, toggleBookmark } from './places.js';

export function AddressBar({ path }: { readonly path: string }) {
  const [isTyping, setIsTyping] = useState(false);
  const [isMarked, setIsMarked] = useState(false);
  useEffect(() => setIsMarked(bookmarks().includes(path)), [path]);
  const mark = (): void => setIsMarked(toggleBookmark(path));
  useShortcuts([
    {
      keys: 'p',
      title: 'Type a path',
      group: 'Explorer',
      run: () => setIsTyping(true),
    },
    { keys: 'b', title: 'Bookmark this znode, or no longer', group: 'Explorer', run: mark },
    {
      keys: 'u',
      title: 'Go up to the parent',
      group: 'Explorer',
      run: () => openNode(parentOf(path)),
    },
  ]);
  return (
    <div className="address">
      <button
        type="button"
        className="button button-quiet button-icon button-small"
        aria-label={isMarked ? 'Remove the bookmark' : 'Bookmark this znode'}
        aria-pressed={isMarked}
        onClick={mark}
      >
        <Icon name="star" />
      </button>
      {isTyping ? (
        <PathField path={path} onEnd={() => setIsTyping(false)} />
      ) : (
        <Breadcrumbs path={path} onType={() => setIsTyping(true)} />
      )}
    </div>
  );
}

function Breadcrumbs({ path, onType }: { readonly path: string; readonly onType: () => void }) {
  return (
    <>
      <nav className="crumbs" aria-label="Path">
        {lineOf(path).map((at, index) => (
          <Fragment key={at}>
            {index > 1 ? <span className="crumb-slash">/</span> : null}
            <a
              className="crumb"
              href={nodeHref(at)}
              aria-current={at === path ? 'page' : undefined}
            >
              {shown(nameOf(at))}
            </a>
          </Fragment>
        ))}
      </nav>
      <button
        type="button"
        className="crumbs-rest"
        aria-label="Type a path"
        title="Type a path (p)"
        onClick={onType}
      />
    </>
  );
}

function PathField({ path, onEnd }: { readonly path: string; readonly onEnd: () => void }) {
  const [typed, setTyped] = useState(path === '/' ? '/' : `${path}/`);
  const offered = useCompletions(typed);
  const [chosen, setChosen] = useState(-1);
  const wanted = offered[chosen] ?? (typed.length > 1 ? withoutSlashes(typed) : typed);
  const wrong = wrongPath(wanted);
  const change = (text: string): void => {
    setTyped(text);
    setChosen(-1);
  };
  const go = (to: string): void => {
    if (wrongPath(to) !== null) return;
    onEnd();
    openNode(to);
  };
  const complete = (): void => {
    const common = offered[chosen] ?? commonBeginning(offered);
    if (common !== '') change(offered.length === 1 || chosen >= 0 ? `${common}/` : common);
  };
  return (
    <form
      className="path-field"
      onSubmit={(event) => {
        event.preventDefault();
        go(wanted);
      }}
    >
      <input
        // biome-ignore lint/a11y/noAutofocus: the person has just asked for the field
        autoFocus
        className="input input-code"
        role="combobox"
        aria-label="Path"
        aria-expanded={offered.length > 0}
        aria-controls="path-offers"
        aria-activedescendant={chosen >= 0 ? `offer-${chosen}` : undefined}
        aria-invalid={wrong !== null}
        spellCheck={false}
        value={typed}
        onChange={(event) => change(event.target.value)}
        onBlur={onEnd}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onEnd();
          else if (event.key === 'Tab' && offered.length > 0 && !event.shiftKey) complete();
          else if (event.key === 'ArrowDown') setChosen(Math.min(offered.length - 1, chosen + 1));
          else if (event.key === 'ArrowUp') setChosen(Math.max(-1, chosen - 1));
          else return;
          event.preventDefault();
        }}
      />
      <Offers offered={offered} chosen={chosen} onGo={go} />
    </form>
  );
}

interface OffersProps {
  readonly offered: readonly string[];
  readonly chosen: number;
  readonly onGo: (path: string) => void;
}

function Offers({ offered, chosen, onGo }: OffersProps) {
  if (offered.length === 0) return <div id="path-offers" />;
  return (
    <div id="path-offers" className="offers" role="listbox" aria-label="Paths">
      {offered.map((one, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keyboard
        // biome-ignore lint/a11y/useFocusableInteractive: the field has the keyboard
        <div
          key={one}
          id={`offer-${index}`}
          className={index === chosen ? 'offer is-active' : 'offer'}
          role="option"
          aria-selected={index === chosen}
          // The field must not lose the focus before the click.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onGo(one)}
        >
          {shown(one)}
        </div>
      ))}
    </div>
  );
}

function useCompletions(typed: string): readonly string[] {
  const { api } = useConsole();
  const [offered, setOffered] = useState<readonly string[]>([]);
  useEffect(() => {
    const end = new AbortController();
    completions(api, typed, end.signal)
      .then(setOffered)
      // Where there is nothing to offer, the field works all the same.
      .catch(() => {
        if (!end.signal.aborted) setOffered([]);
      });
    return () => end.abort();
  }, [api, typed]);
  return offered;
}
