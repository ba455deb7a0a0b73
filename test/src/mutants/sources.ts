/**
 * The product's sources, in which a mutant finds its place by what surrounds it: the declaration
 * that `in` names, and the code in it that has the same syntax tree as `find`.
 *
 * Files may be moved, split and merged, and code may be laid out differently, without a change to
 * the mutants. If the declaration has another name now, or its code has moved to another one, the
 * place is the only one in all sources that has this code. Nothing is written here.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Edit, editsOf, type Mutant } from './mutant.js';
import {
  fieldOf,
  isNode,
  type Match,
  matchesOf,
  parse,
  patternsOf,
  type SyntaxNode,
} from './syntax.js';

/** The packages that mutants may change. */
const PACKAGES = ['protocol', 'server', 'client'] as const;
const FOR_TESTS = /\/src\/(?:simulated|testing)\/|\.test\.ts$/;
/** How a declaration at the top of a file begins. */
const DECLARED =
  /^(?:export )?(?:abstract )?(?:async )?(?:class|function\*?|const|let|interface|type) ([\w$]+)/gm;

/** Texts by paths from the root of the repository, with slashes. */
export type Texts = ReadonlyMap<string, string>;

interface Declaration {
  /** `name` or `Class.member`. */
  readonly name: string;
  readonly node: SyntaxNode;
}

interface Tree {
  readonly file: string;
  readonly text: string;
  readonly node: SyntaxNode;
}

interface Place extends Match {
  readonly file: string;
  readonly text: string;
}

export class Sources {
  readonly #texts: Texts;
  /** The files that declare a name, of one that is not a member of a class. */
  readonly #declaring = new Map<string, string[]>();
  /** What original texts declare: parsing takes longer than everything else. */
  readonly #parsed = new Map<string, readonly Declaration[]>();

  /** `texts` have the code of the product only. */
  constructor(texts: Texts) {
    this.#texts = texts;
    for (const [file, text] of texts) {
      for (const [, name = ''] of text.matchAll(DECLARED)) {
        const files = this.#declaring.get(name);
        if (files === undefined) this.#declaring.set(name, [file]);
        else files.push(file);
      }
    }
  }

  /** Those below the root of a repository, or of a copy of it. */
  static read(root: string): Sources {
    const texts = new Map<string, string>();
    for (const name of PACKAGES) {
      const folder = `${name}/src`;
      for (const entry of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
        const file = `${folder}/${entry.replaceAll('\\', '/')}`;
        if (!file.endsWith('.ts') || FOR_TESTS.test(file)) continue;
        texts.set(file, readFileSync(join(root, file), 'utf8'));
      }
    }
    return new Sources(texts);
  }

  /** The files that the mutant changes, with their new texts; throws if the mutant does not fit. */
  mutated(mutant: Mutant): Texts {
    const changed = new Map<string, string>();
    for (const edit of editsOf(mutant)) {
      const place = this.#placeOf(mutant.name, edit, changed);
      const after = edited(edit, place);
      if (after === place.text) throw new Error(`${mutant.name} changes nothing`);
      changed.set(place.file, after);
    }
    return changed;
  }

  #placeOf(mutant: string, edit: Edit, changed: Texts): Place {
    const patterns = patternsOf(edit.find);
    if (patterns.length === 0) throw new Error(`${mutant}: this is no code: ${edit.find}`);
    const places = placesIn(this.#declared(edit.in, changed), patterns);
    const all = places.length > 0 ? places : placesIn(this.#all(changed), patterns);
    const [place] = all;
    if (place !== undefined && all.length === 1) return place;
    const where = places.length > 0 ? edit.in : `${edit.in}, and ${all.length} times elsewhere`;
    const files = [...new Set(all.map(({ file }) => file))].map((file) => `\n  ${file}`);
    throw new Error(
      `${mutant}: its code occurs ${places.length} times in ${where}, not once:\n` +
        `  ${edit.find}${files.join('')}`,
    );
  }

  *#declared(name: string, changed: Texts): Generator<Tree> {
    const [outer = ''] = name.split('.');
    for (const file of this.#declaring.get(outer) ?? []) {
      const text = changed.get(file) ?? this.#texts.get(file) ?? '';
      const declarations = this.#parsed.get(text) ?? declarationsOf(text);
      if (!changed.has(file)) this.#parsed.set(text, declarations);
      for (const declaration of declarations) {
        if (declaration.name === name) yield { file, text, node: declaration.node };
      }
    }
  }

  *#all(changed: Texts): Generator<Tree> {
    for (const [file, original] of this.#texts) {
      const text = changed.get(file) ?? original;
      yield { file, text, node: parse(text) };
    }
  }
}

/** The text with this place replaced; each `$NAME` of the replacement is what it stands for. */
function edited({ replace }: Edit, { text, start, end, holes }: Place): string {
  const written = replace.replace(/\$[A-Z][A-Z0-9]*/g, (hole) => {
    const node = holes.get(hole);
    return node === undefined ? hole : text.slice(node.start, node.end);
  });
  return text.slice(0, start) + written + text.slice(end);
}

/** What is looked for is the first of the patterns that occurs. */
function placesIn(
  trees: Iterable<Tree>,
  patterns: ReturnType<typeof patternsOf>,
): readonly Place[] {
  const places = patterns.map((): Place[] => []);
  for (const { file, text, node } of trees) {
    for (const [index, pattern] of patterns.entries()) {
      for (const match of matchesOf(pattern, node)) places[index]?.push({ ...match, file, text });
    }
  }
  return places.find((found) => found.length > 0) ?? [];
}

/** What a file declares at its top, and the members of its classes. */
function declarationsOf(text: string): readonly Declaration[] {
  return listOf(parse(text), 'body').flatMap((statement) => {
    const exported = fieldOf(statement, 'declaration');
    const node = isNode(exported) ? exported : statement;
    if (node.type === 'VariableDeclaration') {
      return listOf(node, 'declarations').map((variable) => {
        return { name: nameOf(variable, 'id'), node };
      });
    }
    const name = nameOf(node, 'id');
    if (node.type !== 'ClassDeclaration') return [{ name, node }];
    const members = listOf(fieldOf(node, 'body'), 'body').map((member) => {
      return { name: `${name}.${nameOf(member, 'key')}`, node: member };
    });
    return [{ name, node }, ...members];
  });
}

function listOf(value: unknown, field: string): readonly SyntaxNode[] {
  const list = fieldOf(value, field);
  return Array.isArray(list) ? list.filter(isNode) : [];
}

/** Private members have their `#`. */
function nameOf(node: SyntaxNode, field: 'id' | 'key'): string {
  const id = fieldOf(node, field);
  const name = fieldOf(id, 'name') ?? fieldOf(id, 'value');
  return isNode(id) && id.type === 'PrivateIdentifier' ? `#${name}` : `${name}`;
}
