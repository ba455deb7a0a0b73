/**
 * The documents of the repository in the form that their tests need: paragraphs, links, code.
 *
 * A document is a Markdown file that is under version control or about to be. The parser handles
 * only the Markdown that they use: fenced blocks, tables, lists, headings, links and code spans.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../tidy/source.js';

export interface Page {
  /** The path from the root of the repository, with slashes. */
  readonly path: string;
  readonly text: string;
}

export interface Block {
  /** The language after the fence: `sh`, `ts`, `mermaid`. */
  readonly language: string;
  readonly code: string;
}

/** The places of documents: the root, and these folders with everything below them. */
const FOLDERS = ['docs', 'protocol', 'server', 'client', 'cli', 'bench', 'test'];
const SKIPPED = new Set(['node_modules', 'dist', '.work', 'npm-clients', 'api', 'site']);

export function pages(): Page[] {
  const atRoot = readdirSync(root).filter((name) => name.endsWith('.md'));
  return [...atRoot, ...FOLDERS.flatMap(pathsBelow)]
    .sort()
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

/** Enters no folder that it skips: in some of them other tests remove files meanwhile. */
function pathsBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : pathsBelow(path);
    return entry.name.endsWith('.md') ? [path] : [];
  });
}

/** Returns the text without fenced blocks and HTML comments; line breaks are kept. */
export function proseOf(text: string): string {
  return text
    .replace(/^ *```.*?^ *```$/gms, (block) => block.replace(/[^\n]/g, ''))
    .replace(/<!--.*?-->/gs, (comment) => comment.replace(/[^\n]/g, ''));
}

/** Returns paragraphs, list items, headings and table cells, each as one line. */
export function paragraphsOf(text: string): string[] {
  return proseOf(text)
    .split(/\n(?=\s*(?:\n|[-*] |\d+\. |\||#))/)
    .flatMap((one) => (one.trim().startsWith('|') ? one.split(' | ') : [one]))
    .map((one) => one.replace(/\s+/g, ' ').trim())
    .filter((one) => one !== '');
}

export function blocksOf(text: string): Block[] {
  return [...text.matchAll(/^( *)```(\w*)\n(.*?)^ *```$/gms)].map(
    ([, , language = '', code = '']) => ({ language, code }),
  );
}

/** Returns the texts in backticks of a line. */
export function codeSpansOf(text: string): string[] {
  return [...proseOf(text).matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span);
}

/** Returns the targets of links to other files or headings of the repository. */
export function linksOf(text: string): string[] {
  return [...proseOf(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target));
}

/** Returns the names by which a link can refer to a heading of a page, as GitHub derives them. */
export function anchorsOf(text: string): string[] {
  return [...proseOf(text).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}
