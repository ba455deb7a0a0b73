/**
 * What all editors of the console have in common: languages, colours, and how they are put on the
 * page.
 *
 * An editor lives in a shadow root: there its styles are style sheets of the document's own making,
 * which the page's policy allows, and a `<style>` element would be refused.
 */
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { xml } from '@codemirror/lang-xml';
import { yaml } from '@codemirror/lang-yaml';
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { Language } from '../data/detect.js';
import { lineBreakOf } from './line-breaks.js';

export interface EditorOptions {
  readonly text: string;
  readonly language: Language;
  /** What it is, for those who cannot see it. */
  readonly label: string;
  readonly isReadOnly: boolean;
}

/** Everything but what reacts to changes. */
export function editorExtensions({
  text,
  language,
  label,
  isReadOnly,
}: EditorOptions): Extension[] {
  return [
    EditorState.lineSeparator.of(lineBreakOf(text)),
    EditorState.readOnly.of(isReadOnly),
    EditorView.editable.of(!isReadOnly),
    EditorView.contentAttributes.of({
      'aria-label': label,
      tabindex: '0',
      spellcheck: 'false',
      ...(isReadOnly ? { role: 'textbox', 'aria-multiline': 'true', 'aria-readonly': 'true' } : {}),
    }),
    EditorView.lineWrapping,
    lineNumbers(),
    highlightSpecialChars(),
    drawSelection(),
    bracketMatching(),
    highlightSelectionMatches(),
    syntaxHighlighting(HIGHLIGHT),
    THEME,
    languageOf(language),
    ...(language === 'text' || language === 'properties' ? [] : [foldGutter()]),
    ...(isReadOnly ? [] : [history(), indentOnInput(), highlightActiveLine()]),
    keymap.of([
      // Tab leads out of the editor, as for whoever has no mouse it must.
      ...(isReadOnly ? [] : historyKeymap),
      ...[...searchKeymap, ...foldKeymap, ...defaultKeymap],
    ]),
  ];
}

export function languageOf(language: Language): Extension {
  switch (language) {
    case 'json':
      return json();
    case 'yaml':
      return yaml();
    case 'xml':
      return xml({ autoCloseTags: false });
    case 'properties':
    case 'text':
      return [];
  }
}

/** The place for an editor within an element. Once for each element. */
export function shadowOf(host: HTMLElement): {
  readonly root: ShadowRoot;
  readonly parent: Element;
} {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const parent = document.createElement('div');
  parent.style.height = '100%';
  root.replaceChildren(parent);
  return { root, parent };
}

const HIGHLIGHT = HighlightStyle.define([
  {
    tag: [tags.propertyName, tags.definition(tags.propertyName), tags.tagName],
    color: 'var(--code-key)',
  },
  { tag: [tags.string, tags.attributeValue, tags.content], color: 'var(--code-string)' },
  { tag: [tags.number], color: 'var(--code-number)' },
  { tag: [tags.bool, tags.null, tags.keyword, tags.attributeName], color: 'var(--code-atom)' },
  { tag: [tags.comment, tags.meta, tags.processingInstruction], color: 'var(--code-comment)' },
  { tag: [tags.punctuation, tags.separator, tags.bracket], color: 'var(--code-mark)' },
]);

const THEME = EditorView.theme({
  '&': {
    height: '100%',
    backgroundColor: 'var(--surface)',
    color: 'var(--text)',
    fontSize: '12.5px',
  },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--font-code)', lineHeight: '1.55' },
  '.cm-content': { padding: '8px 0', caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': {
    backgroundColor: 'var(--surface)',
    color: 'var(--text-faint)',
    border: 'none',
    paddingLeft: '6px',
  },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--accent) 6%, transparent)' },
  '.cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground':
    { backgroundColor: 'color-mix(in srgb, var(--accent) 25%, transparent)' },
  '.cm-selectionMatch': { backgroundColor: 'color-mix(in srgb, var(--warn) 22%, transparent)' },
  '.cm-matchingBracket': {
    outline: '1px solid var(--line-strong)',
    backgroundColor: 'transparent',
  },
  '.cm-specialChar': { color: 'var(--bad)' },
  '.cm-foldPlaceholder': {
    backgroundColor: 'var(--sunken)',
    border: '1px solid var(--line)',
    color: 'var(--text-soft)',
  },
  '.cm-panels': { backgroundColor: 'var(--ground)', color: 'var(--text)' },
  '.cm-panels.cm-panels-bottom': { borderTop: '1px solid var(--line)' },
  '.cm-textfield': { backgroundColor: 'var(--surface)', borderColor: 'var(--line-strong)' },
  '.cm-button': {
    backgroundImage: 'none',
    backgroundColor: 'var(--surface)',
    borderColor: 'var(--line-strong)',
  },
  '.cm-changedLine': { backgroundColor: 'color-mix(in srgb, var(--good) 10%, transparent)' },
  '.cm-deletedChunk': { backgroundColor: 'color-mix(in srgb, var(--bad) 10%, transparent)' },
  '.cm-collapsedLines': {
    backgroundImage: 'none',
    backgroundColor: 'var(--sunken)',
    color: 'var(--text-soft)',
  },
});
