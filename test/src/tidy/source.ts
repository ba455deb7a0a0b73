/**
 * The source files of the repository, in the form that the tidy test needs: path, text, the code
 * alone (comments and the contents of strings blanked out, line breaks kept) and imports.
 *
 * The tokenizer knows just enough of TypeScript for that: comments, strings, templates, regular
 * expressions. Only the tidy test uses it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../../', import.meta.url));

const PACKAGES = ['protocol', 'server', 'client', 'console', 'cli', 'test', 'bench'] as const;

export interface SourceFile {
  /** The path from the root of the repository, with slashes. */
  readonly path: string;
  readonly text: string;
  /** The code, with the same length and lines as `text`; everything else is blank. */
  readonly code: string;
  /**
   * What the file imports or re-exports: a package or a built-in by its name, a file by its path.
   */
  readonly imports: readonly string[];
}

export function sourceFiles(): SourceFile[] {
  return PACKAGES.flatMap((name) => {
    const entries = readdirSync(join(root, name, 'src'), { recursive: true, encoding: 'utf8' });
    return entries
      .filter((entry) => /\.tsx?$/.test(entry))
      .map((entry) => `${name}/src/${entry.replaceAll('\\', '/')}`)
      .sort()
      .map((path) => sourceFile(path, readFileSync(join(root, path), 'utf8')));
  });
}

export function sourceFile(path: string, text: string): SourceFile {
  const code = codeOf(text);
  return { path, text, code, imports: importsOf(path, text, code) };
}

function importsOf(path: string, text: string, code: string): string[] {
  const found: string[] = [];
  for (const match of code.matchAll(/(?<![.\w])(?:from|import\s*\(?)\s*(['"])( *)\1/g)) {
    const end = match.index + match[0].length - 1;
    const name = text.slice(end - (match[2]?.length ?? 0), end);
    found.push(name.startsWith('.') ? resolveFile(path, name) : name);
  }
  return found;
}

function resolveFile(path: string, name: string): string {
  return posix.join(posix.dirname(path), name).replace(/\.js$/, '.ts');
}

/** The literals of regular expressions in a text, by the offset of each. */
export function expressionsIn(text: string): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  codeOf(text, (from, end) => {
    const flags = /^[a-z]*/.exec(text.slice(end, end + 8))?.[0] ?? '';
    found.set(from, text.slice(from, end) + flags);
  });
  return found;
}

/** Returns `text` with comments, string contents and regular expressions replaced by blanks. */
export function codeOf(text: string, onExpression?: (from: number, end: number) => void): string {
  let code = '';
  let at = 0;
  // For each open template, the number of open braces in its current `${}`; -1 outside of one.
  const templates: number[] = [];
  const copy = (end: number) => {
    code += text.slice(at, end);
    at = end;
  };
  const blank = (end: number) => {
    code += text.slice(at, end).replace(/[^\n]/g, ' ');
    at = end;
  };
  while (at < text.length) {
    const depth = templates.at(-1) ?? 0;
    const char = text.charAt(at);
    if (depth === -1) {
      const end = endOf(text, at, /\$\{|`/g);
      blank(end);
      const opens = text.startsWith('$' + '{', end);
      templates.pop();
      if (opens) templates.push(0);
      copy(end + (opens ? 2 : 1));
    } else if (text.startsWith('//', at)) blank(endOf(text, at, /\n/g));
    else if (text.startsWith('/*', at)) blank(endOf(text, at + 2, /\*\//g) + 2);
    else if (char === "'" || char === '"') {
      copy(at + 1);
      blank(endOf(text, at, char === "'" ? /'|\n/g : /"|\n/g));
      copy(at + 1);
    } else if (char === '`') {
      templates.push(-1);
      copy(at + 1);
    } else if (char === '/' && /(^|[(,=:[!&|?{};+\-*%<>~^]|\breturn|\bcase)\s*$/.test(code)) {
      const end = endOfRegExp(text, at);
      onExpression?.(at, end);
      blank(end);
    } else {
      if (char === '{' && templates.length > 0) templates.push((templates.pop() ?? 0) + 1);
      if (char === '}' && templates.length > 0) templates.push((templates.pop() ?? 0) - 1);
      copy(at + 1);
    }
  }
  return code;
}

/** Returns the next match of `pattern` at or after `from`; escaped characters are skipped. */
function endOf(text: string, from: number, pattern: RegExp): number {
  pattern.lastIndex = from;
  for (;;) {
    const match = pattern.exec(text);
    if (match === null) return text.length;
    let slashes = 0;
    while (text.charAt(match.index - 1 - slashes) === '\\') slashes += 1;
    if (slashes % 2 === 0 || match[0] === '\n' || match[0] === '*/') return match.index;
    pattern.lastIndex = match.index + 1;
  }
}

function endOfRegExp(text: string, from: number): number {
  let inClass = false;
  for (let at = from + 1; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '\n') return at;
    if (char === '\\') at += 1;
    else if (char === '[') inClass = true;
    else if (char === ']') inClass = false;
    else if (char === '/' && !inClass) return at + 1;
  }
  return text.length;
}
