/**
 * What every page needs: the API, as whom it is asked, and what is possible.
 */
import { createContext, useContext } from 'react';
import type { Api, Method } from './api/api.js';
import type { Credentials } from './api/credentials.js';
import type { ApiIndex } from './api/types.js';

export interface ConsoleContext {
  readonly api: Api;
  readonly index: ApiIndex;
  /** Whether the server has this at all, and lets this person do it. */
  can(method: Method, path: string): boolean;
  /** Asks with other credentials from now on; `keep` keeps them for this tab. */
  signIn(credentials: Credentials, keep: boolean): Promise<void>;
  signOut(): void;
}

export const Context = createContext<ConsoleContext | null>(null);

export function useConsole(): ConsoleContext {
  const context = useContext(Context);
  if (context === null) throw new Error('nobody has signed in');
  return context;
}

/** `path` is one below `/api/v1`, such as `/node/data`. */
export function isPossible(index: ApiIndex, method: Method, path: string): boolean {
  if (index.readOnly && method !== 'GET') return false;
  return index.paths[`/api/v1${path}`]?.includes(method) === true;
}
