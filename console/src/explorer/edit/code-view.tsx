/**
 * An editor on the page, for reading or for changing. Loaded when data is opened.
 */
import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { flushSync } from 'react-dom';
import type { Language } from '../data/detect.js';
import { editorExtensions, shadowOf } from './code-mirror.js';

export interface CodeViewProps {
  readonly text: string;
  readonly language: Language;
  readonly label: string;
  /** With it the text can be changed; it is told the whole text. */
  readonly onChange?: (text: string) => void;
}

export function CodeView({ text, language, label, onChange }: CodeViewProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const newest = useRef({ text, onChange });
  const isReadOnly = onChange === undefined;
  useEffect(() => {
    newest.current = { text: newest.current.text, onChange };
  });
  useEffect(() => {
    if (host.current === null) return;
    const { root, parent } = shadowOf(host.current);
    const { text: initial } = newest.current;
    const listener = EditorView.updateListener.of(({ docChanged, state }) => {
      if (!docChanged) return;
      const changed = state.sliceDoc();
      // What came from outside is known there.
      if (changed === newest.current.text) return;
      newest.current = { ...newest.current, text: changed };
      // At once: a text whose effect, below, came after the next key would undo that key.
      flushSync(() => newest.current.onChange?.(changed));
    });
    const options = { text: initial, language, label, isReadOnly };
    const made = new EditorView({
      state: EditorState.create({
        doc: initial,
        extensions: [...editorExtensions(options), listener],
      }),
      parent,
      root,
    });
    view.current = made;
    if (!isReadOnly) made.focus();
    return () => made.destroy();
  }, [language, label, isReadOnly]);
  useEffect(() => {
    // A text from outside, such as one that was laid out; not the echo of what was typed.
    if (newest.current.text === text || view.current === null) return;
    newest.current = { ...newest.current, text };
    const { state } = view.current;
    view.current.dispatch({ changes: { from: 0, to: state.doc.length, insert: text } });
  }, [text]);
  return <div ref={host} className="code-host" />;
}
