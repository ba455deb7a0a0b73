/**
 * Shortcuts for components: one listener for the page, and a hook that registers keys while a
 * component is on it.
 */
import { createContext, type ReactNode, useContext, useEffect, useRef, useState } from 'react';
import { type Shortcut, Shortcuts } from './shortcuts.js';

const Context = createContext<Shortcuts | null>(null);
const FIELDS = 'input:not([type=checkbox],[type=radio],[type=button]), textarea, select';

export function ShortcutsProvider({ children }: { readonly children: ReactNode }) {
  const [shortcuts] = useState(() => new Shortcuts());
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.isComposing) return;
      // A modal dialog has the keyboard to itself, but for what a field in it leaves to the page.
      if (document.querySelector('dialog[open]') !== null) return;
      const { key, altKey: hasAlt } = event;
      const hasMod = event.ctrlKey || event.metaKey;
      const pressed = { key, hasMod, hasAlt, isTyping: isTyping(event) };
      const found = shortcuts.match(pressed, performance.now());
      if (found === null) return;
      event.preventDefault();
      found.run();
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [shortcuts]);
  return <Context value={shortcuts}>{children}</Context>;
}

/** The keys may change with each rendering; what they run is always the newest. */
export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  const registry = useRegistry();
  const newest = useRef(shortcuts);
  useEffect(() => {
    newest.current = shortcuts;
  });
  const names = JSON.stringify(shortcuts.map(({ keys, title, group }) => [keys, title, group]));
  useEffect(() => {
    const listed = JSON.parse(names) as readonly [string, string, string][];
    return registry.register(
      listed.map(([keys, title, group], index) => ({
        keys,
        title,
        group,
        run: () => newest.current[index]?.run(),
      })),
    );
  }, [registry, names]);
}

export function useRegistry(): Shortcuts {
  const registry = useContext(Context);
  if (registry === null) throw new Error('there is no ShortcutsProvider');
  return registry;
}

/** An editor in a shadow root hides behind its host; the path of the event names the field. */
function isTyping(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.matches(FIELDS);
}
