/**
 * Two texts side by side with their differences. Loaded when somebody reviews an edit.
 */
import { MergeView } from '@codemirror/merge';
import { useEffect, useRef } from 'react';
import type { Language } from '../data/detect.js';
import { editorExtensions, shadowOf } from './code-mirror.js';

export interface DiffViewProps {
  readonly before: string;
  readonly after: string;
  readonly language: Language;
}

/** Looking for the smallest difference ends here; what is shown then is still right. */
const DIFF = { scanLimit: 500, timeout: 300 };

export function DiffView({ before, after, language }: DiffViewProps) {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (host.current === null) return;
    const { root, parent } = shadowOf(host.current);
    const side = (text: string, label: string) => ({
      doc: text,
      extensions: editorExtensions({ text, language, label, isReadOnly: true }),
    });
    const view = new MergeView({
      a: side(before, 'As it is'),
      b: side(after, 'As you want it'),
      parent,
      root,
      diffConfig: DIFF,
      gutter: true,
      collapseUnchanged: { margin: 3, minSize: 6 },
    });
    view.dom.style.height = '100%';
    view.dom.style.overflow = 'auto';
    return () => view.destroy();
  }, [before, after, language]);
  return <div ref={host} className="code-host" />;
}
