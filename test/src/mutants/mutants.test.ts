/**
 * A change of the code under a mutant is detected at once, not by the nightly run. The test makes
 * every edit in memory.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allMutants, seededMutants } from './index.js';
import { type Edit, editsOf, type Mutant } from './mutant.js';
import { scenarioMutants } from './named/index.js';
import { Sources } from './sources.js';
import { parse } from './syntax.js';
import { ROOT } from './workspace.js';

const EXAMPLE: Mutant = {
  name: 'example',
  area: 'zab',
  in: 'Quorum.size',
  find: 'return half + 1;',
  replace: 'return half;',
  breaks: 'nothing',
};
const METHOD =
  'size() { const half = 2; if (half < 1) { throw new Error("none"); } return half + 1; }';

/** What the example makes of one file; `edit` replaces parts of the example. */
function changed(text: string, edit: Partial<Mutant> = {}): string | undefined {
  const file = 'server/src/zab/quorum.ts';
  return new Sources(new Map([[file, text]])).mutated({ ...EXAMPLE, ...edit }).get(file);
}

/** What is the same for two edits that do the same. */
function bugOf(edit: Edit): readonly string[] {
  return [edit.in, edit.find, edit.replace].map((text) => text.replace(/\s+/g, ' '));
}

/** Whether a string of a test file, with the words of a table of cases in it, is this title. */
function isTitle(written: string, name: string): boolean {
  const [...parts] = written.replaceAll("\\'", "'").split(/%\w|\$[\w.]+/);
  if (!parts.some((part) => /\w/.test(part))) return false;
  const literally = parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${literally.join('.+')}$`).test(name);
}

describe('an edit', () => {
  it('is made where its code occurs once, and refused elsewhere', () => {
    expect(changed(`class Quorum { ${METHOD} }`)).toContain('} return half; }');
    expect(() => changed(`class Quorum { ${METHOD} ${METHOD} }`)).toThrow('occurs 2 times in Quor');
    expect(() => changed('class Quorum { size() {} }')).toThrow('0 times in Quorum.size, and 0');
    const twice = `class Quorum { size() {} } class A { ${METHOD} ${METHOD} }`;
    expect(() => changed(twice)).toThrow('0 times in Quorum.size, and 2 times elsewhere');
    expect(() => changed('', { find: 'return (' })).toThrow('example: this is no code: return (');
    const same = { replace: EXAMPLE.find };
    expect(() => changed(`class Quorum { ${METHOD} }`, same)).toThrow('changes nothing');
  });

  it('finds its code in any layout, in any file and in a declaration of another name', () => {
    const layout = 'class Quorum { size() { /* more\n than */ return (half\n + 1) } }';
    expect(changed(layout)).toContain('*/ return half; }');
    expect(changed(`function sizeOf() ${METHOD.slice('size() '.length)}`)).toContain(
      'return half;',
    );
    const others = 'class A { size() { return half + 1; } }';
    expect(changed(`${others}\nclass Quorum { ${METHOD} }`)).toContain(others);
  });

  it('takes expressions, members and consecutive statements, and keeps what a hole is', () => {
    const text = `class Quorum { max = 3; ${METHOD} }`;
    expect(changed(text, { find: 'half < 1', replace: 'half < 2' })).toContain('if (half < 2) {');
    const holes = { find: 'if ($TEST) $BODY', replace: 'if (!($TEST)) $BODY' };
    expect(changed(text, holes)).toContain('if (!(half < 1)) { throw new Error("none"); }');
    const field = { in: 'Quorum', find: 'max = 3', replace: 'max = 4;' };
    expect(changed(text, field)).toBe(`class Quorum { max = 4; ${METHOD} }`);
    const method = { in: 'Quorum', find: 'size() { $BODY }', replace: 'size() {}' };
    expect(changed(text, method)).toBe('class Quorum { max = 3; size() {} }');
    const order = { find: 'const half = $VALUE; if ($TEST) $BODY', replace: 'if ($VALUE) $BODY' };
    expect(changed(text, order)).toContain('{ if (2) { throw new Error("none"); } return');
  });
});

describe('the mutants', () => {
  it('all fit the present sources', () => {
    const sources = Sources.read(ROOT);
    const misfits: string[] = [];
    for (const mutant of allMutants) {
      try {
        for (const text of sources.mutated(mutant).values()) parse(text);
      } catch (error) {
        misfits.push(`${mutant.name}: ${error}`);
      }
    }
    expect(misfits).toEqual([]);
  });

  it('name scenarios that exist', () => {
    const missing = scenarioMutants.filter(({ scenario: { file, name } }) => {
      const text = readFileSync(join(ROOT, file), 'utf8');
      if (file.includes('/traces/')) return !existsSync(join(ROOT, 'test/traces', name));
      const strings = text.match(/'(?:[^'\\\n]|\\.)*'|"[^"\n]*"|`[^`]*`/g) ?? [];
      return !strings.some((string) => isTitle(string.slice(1, -1), name));
    });
    expect(missing.map(({ name, scenario }) => `${name}: ${scenario.name}`)).toEqual([]);
  });

  it('are different bugs, if the simulator hunts them', () => {
    const bugs = seededMutants.map((mutant) => JSON.stringify(editsOf(mutant).map(bugOf)));
    const twice = seededMutants.filter((_, index) => bugs.indexOf(bugs[index] ?? '') !== index);
    expect(twice.map(({ name }) => name)).toEqual([]);
  });

  it('have unique names', () => {
    const names = allMutants.map((mutant) => mutant.name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});
