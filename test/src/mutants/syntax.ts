/**
 * Finds a piece of code in a syntax tree by its own syntax tree.
 *
 * Two pieces are the same if they differ only in white space, comments, quotes, optional
 * parentheses and commas, or braces around one statement. In a pattern, a name such as `$BODY`
 * stands for any one expression or statement, and the same name twice for the same code twice.
 * Pure.
 */
import { parseAst } from 'rolldown/parseAst';

export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

export interface Match {
  readonly start: number;
  readonly end: number;
  /** What each `$NAME` of the pattern stands for. */
  readonly holes: ReadonlyMap<string, SyntaxNode>;
}

/** Consecutive nodes: one expression, or one or several statements or members. */
export type Pattern = readonly SyntaxNode[];

/** Where a piece of code may stand, with the way to it in what the parser returns. */
const SURROUNDINGS = [
  { code: (text: string) => within(`(${text}\n)`), way: ['0', 'expression'] },
  { code: within, way: [] },
  { code: (text: string) => `class _ { ${text}\n}`, way: ['0', 'body', 'body'] },
  { code: (text: string) => within(`({${text}\n})`), way: ['0', 'expression', 'properties'] },
  { code: (text: string) => within(`switch (0) {${text}\n}`), way: ['0', 'cases'] },
  { code: (text: string) => `interface _ { ${text}\n}`, way: ['0', 'body', 'body'] },
] as const;
const IS_IN_CLASS = ['0', 'body', 'body', '0', 'value', 'body', 'body', '0', 'body', 'body'];
const HOLE = /^\$[A-Z][A-Z0-9]*$/;
/** They say where and how something is written, not what. */
const SPELLING = new Set(['start', 'end', 'raw']);

/** Throws where the text is no TypeScript. */
export function parse(text: string): SyntaxNode {
  const program: unknown = parseAst(text, { lang: 'ts' });
  if (!isNode(program)) throw new Error('the parser returns a program');
  return program;
}

/** Each way in which the text can be read as code; none if it is no code. */
export function patternsOf(text: string): readonly Pattern[] {
  return SURROUNDINGS.flatMap(({ code, way }): readonly Pattern[] => {
    const written = code(text);
    let found: unknown;
    try {
      found = Reflect.get(parse(written), 'body');
    } catch {
      return []; // It is not code of this kind.
    }
    const steps = written.startsWith('class _ { async') ? [...IS_IN_CLASS, ...way] : way;
    for (const step of steps) found = fieldOf(found, step);
    const nodes = Array.isArray(found) ? found.filter(isNode) : [found].filter(isNode);
    return nodes.length === 0 ? [] : [nodes];
  });
}

/** Where this code stands in the tree. */
export function matchesOf(pattern: Pattern, tree: SyntaxNode): readonly Match[] {
  const matches: Match[] = [];
  const compare = (nodes: readonly SyntaxNode[]): void => {
    const holes = new Map<string, SyntaxNode>();
    const [first, last] = [nodes[0], nodes.at(-1)];
    if (first === undefined || last === undefined) return;
    if (!nodes.every((node, index) => isSameNode(pattern[index], node, holes))) return;
    matches.push({ start: first.start, end: last.end, holes });
  };
  const visit = (node: SyntaxNode): void => {
    for (const value of Object.values(node)) {
      const list = (Array.isArray(value) ? value : [value]).filter(isNode);
      for (let at = 0; at + pattern.length <= list.length; at += 1) {
        compare(list.slice(at, at + pattern.length));
      }
      list.forEach(visit);
    }
  };
  if (pattern.length === 1) compare([tree]);
  visit(tree);
  return matches;
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

export function fieldOf(value: unknown, field: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, field) : undefined;
}

/** A statement stands in a method that may contain every kind of statement. */
function within(text: string): string {
  return `class _ { async *_() { for (;;) { ${text}\n} } }`;
}

function isSame(pattern: unknown, code: unknown, holes: Map<string, SyntaxNode>): boolean {
  if (isNode(pattern) && isNode(code)) {
    const inner = withoutBraces(pattern);
    // What a hole stands for keeps its braces.
    return isSameNode(inner, holeOf(inner) === null ? withoutBraces(code) : code, holes);
  }
  if (typeof pattern !== 'object' || pattern === null) return pattern === code;
  if (typeof code !== 'object' || code === null) return false;
  const fields = new Set([...Object.keys(pattern), ...Object.keys(code)]);
  return [...fields].every(
    (field) => SPELLING.has(field) || isSame(fieldOf(pattern, field), fieldOf(code, field), holes),
  );
}

function isSameNode(pattern: unknown, code: SyntaxNode, holes: Map<string, SyntaxNode>): boolean {
  if (!isNode(pattern)) return false;
  const hole = holeOf(pattern);
  if (hole !== null) {
    const known = holes.get(hole);
    holes.set(hole, code);
    return known === undefined || isSame(known, code, new Map());
  }
  return (
    pattern.type === code.type &&
    Object.entries(pattern).every(
      ([field, value]) => SPELLING.has(field) || isSame(value, fieldOf(code, field), holes),
    )
  );
}

/** The name of the hole that this node of a pattern is; null if it is code. */
function holeOf(node: SyntaxNode): string | null {
  const inner = node.type === 'ExpressionStatement' ? fieldOf(node, 'expression') : node;
  const name = isNode(inner) && inner.type === 'Identifier' ? fieldOf(inner, 'name') : null;
  return typeof name === 'string' && HOLE.test(name) ? name : null;
}

function withoutBraces(node: SyntaxNode): SyntaxNode {
  if (node.type !== 'BlockStatement') return node;
  const body = fieldOf(node, 'body');
  return Array.isArray(body) && body.length === 1 && isNode(body[0]) ? body[0] : node;
}
