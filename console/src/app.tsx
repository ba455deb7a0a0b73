/**
 * The application: asks the server what is possible, shows the form to log in where it must, and
 * then the pages.
 */
import { useCallback, useEffect, useMemo, useState } from 'react';
import { Api, apiBase } from './api/api.js';
import {
  type Credentials,
  NOBODY,
  storeCredentials,
  storedCredentials,
} from './api/credentials.js';
import { ApiProblem } from './api/problem.js';
import type { ApiIndex } from './api/types.js';
import { type ConsoleContext, Context, isPossible } from './console-context.js';
import { DraftsProvider } from './explorer/edit/drafts.js';
import { ShortcutsProvider } from './keyboard/use-shortcuts.js';
import { LogIn } from './layout/log-in.js';
import { Shell } from './layout/shell.js';
import { ProblemNotice } from './ui/notice.js';

type State =
  | { readonly kind: 'asking' }
  | { readonly kind: 'refused'; readonly error: ApiProblem | null }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'in'; readonly api: Api; readonly index: ApiIndex };

const BASE = apiBase(document.baseURI);

export function App() {
  const [state, setState] = useState<State>({ kind: 'asking' });
  /** Throws ApiProblem if the server does not let them in. */
  const signIn = useCallback(async (credentials: Credentials, keep: boolean): Promise<void> => {
    const api = new Api(BASE, credentials);
    const index = await api.index();
    storeCredentials(keep ? credentials : null);
    setState({ kind: 'in', api, index });
  }, []);
  const begin = useCallback(async (): Promise<void> => {
    const stored = storedCredentials();
    try {
      await signIn(stored, stored !== NOBODY);
    } catch (error) {
      const isRefused = error instanceof ApiProblem && error.status === 401;
      const hadNone = stored.user === null;
      setState(
        isRefused ? { kind: 'refused', error: hadNone ? null : error } : { kind: 'failed', error },
      );
    }
  }, [signIn]);
  useEffect(() => {
    begin().catch(reportError);
  }, [begin]);
  const context = useMemo((): ConsoleContext | null => {
    if (state.kind !== 'in') return null;
    const { api, index } = state;
    return {
      api,
      index,
      signIn,
      can: (method, path) => isPossible(index, method, path),
      signOut: () => {
        storeCredentials(null);
        setState({ kind: 'asking' });
        begin().catch(reportError);
      },
    };
  }, [state, signIn, begin]);
  if (state.kind === 'asking') return <output className="asking">Asking the server …</output>;
  if (state.kind === 'failed') {
    return (
      <main className="asking">
        <ProblemNotice error={state.error} onRetry={() => begin().catch(reportError)} />
      </main>
    );
  }
  if (context === null) {
    return <LogIn error={state.kind === 'refused' ? state.error : null} signIn={signIn} />;
  }
  return (
    <Context value={context}>
      <ShortcutsProvider>
        <DraftsProvider>
          <Shell />
        </DraftsProvider>
      </ShortcutsProvider>
    </Context>
  );
}
