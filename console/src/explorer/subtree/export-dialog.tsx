/**
 * The export of a part of the tree into a file.
 */
import { useEffect, useState } from 'react';
import { isAborted } from '../../api/problem.js';
import { useConsole } from '../../console-context.js';
import { Dialog } from '../../ui/dialog.js';
import { Notice, ProblemNotice } from '../../ui/notice.js';
import { saveAs } from '../../ui/save-as.js';
import { nameOf, shown } from '../paths.js';
import { counted } from '../words.js';
import { exportedText } from './export-subtree.js';

type State =
  | { readonly kind: 'reading'; readonly done: number; readonly total: number }
  | { readonly kind: 'done'; readonly unreadable: number }
  | { readonly kind: 'refused'; readonly sentence: string }
  | { readonly kind: 'failed'; readonly error: unknown };

export interface ExportDialogProps {
  readonly path: string;
  /** Those of its children that are taken; null for all. The list stays the same. */
  readonly only?: readonly string[] | null;
  readonly onClose: () => void;
}

export function ExportDialog({ path, only = null, onClose }: ExportDialogProps) {
  const { api } = useConsole();
  const [state, setState] = useState<State>({ kind: 'reading', done: 0, total: 1 });
  useEffect(() => {
    const end = new AbortController();
    const { signal } = end;
    const onProgress = (done: number, total: number): void => {
      setState({ kind: 'reading', done, total });
    };
    exportedText(api, path, { children: only, signal, onProgress })
      .then((made) => {
        if (signal.aborted) return;
        if (typeof made === 'string') return setState({ kind: 'refused', sentence: made });
        saveAs(new TextEncoder().encode(made.text), `${nameOf(path)}.json`);
        setState({ kind: 'done', unreadable: made.unreadable });
      })
      .catch((error: unknown) => {
        if (!isAborted(error)) setState({ kind: 'failed', error });
      });
    return () => end.abort();
  }, [api, path, only]);
  return (
    <Dialog
      title={
        only === null
          ? `Export ${shown(path)}`
          : `Export ${counted(only.length, 'child', 'children')} of ${shown(path)}`
      }
      onClose={onClose}
      foot={
        <button type="button" className="button" onClick={onClose}>
          {state.kind === 'reading' ? 'Stop' : 'Close'}
        </button>
      }
    >
      {state.kind === 'reading' ? (
        <>
          <progress className="progress" max={state.total} value={state.done} aria-label="Read" />
          <output className="soft">
            {state.done} of {state.total} znodes are read …
          </output>
        </>
      ) : null}
      {state.kind === 'done' ? (
        <Notice kind="good">The file is saved. Ephemeral znodes are not in it.</Notice>
      ) : null}
      {state.kind === 'done' && state.unreadable > 0 ? (
        <Notice kind="warn">
          {counted(state.unreadable, 'znode')} you may not read, and what is below, are not in it
          either.
        </Notice>
      ) : null}
      {state.kind === 'refused' ? <Notice kind="bad">{state.sentence}</Notice> : null}
      {state.kind === 'failed' ? <ProblemNotice error={state.error} /> : null}
    </Dialog>
  );
}
