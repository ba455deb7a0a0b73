/**
 * The edits that are not saved yet, by path. They live as long as the page, whichever znode or page
 * of the console is looked at, and the browser asks before it throws them away.
 */
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';
import type { Draft } from './draft.js';

export type Drafts = Map<string, Draft>;

const Context = createContext<Drafts | null>(null);

export function DraftsProvider({ children }: { readonly children: ReactNode }) {
  const [drafts] = useState((): Drafts => new Map());
  useEffect(() => {
    const onLeave = (event: BeforeUnloadEvent): void => {
      if ([...drafts.values()].some(({ text, base }) => text !== base)) event.preventDefault();
    };
    window.addEventListener('beforeunload', onLeave);
    return () => window.removeEventListener('beforeunload', onLeave);
  }, [drafts]);
  return <Context value={drafts}>{children}</Context>;
}

export function useDrafts(): Drafts {
  const drafts = useContext(Context);
  if (drafts === null) throw new Error('there is no DraftsProvider');
  return drafts;
}
