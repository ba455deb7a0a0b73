/**
 * A refactoring that moves the code under a mutant is detected at once, not by the nightly run. The
 * test makes every edit in memory.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allMutants } from './index.js';
import { edited, editsOf, type Mutant } from './mutant.js';
import { scenarioMutants } from './named/index.js';
import { ROOT } from './workspace.js';

const EXAMPLE: Mutant = {
  name: 'example',
  area: 'zab',
  file: 'zab/quorum.ts',
  find: 'b',
  replace: 'x',
  breaks: 'nothing',
};

/** Whether a string of a test file, with the words of a table of cases in it, is this title. */
function isTitle(written: string, name: string): boolean {
  const [...parts] = written.replaceAll("\\'", "'").split(/%\w|\$[\w.]+/);
  if (!parts.some((part) => /\w/.test(part))) return false;
  const literally = parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${literally.join('.+')}$`).test(name);
}

describe('an edit', () => {
  it('is made where its text occurs once, and refused elsewhere', () => {
    expect(edited('example', EXAMPLE, 'abc')).toBe('axc');
    expect(() => edited('example', EXAMPLE, 'abcb')).toThrow('example: its text occurs 2 times');
    expect(() => edited('example', EXAMPLE, 'ac')).toThrow('occurs 0 times in zab/quorum.ts');
    expect(() => edited('example', { ...EXAMPLE, replace: 'b' }, 'abc')).toThrow('nothing');
  });
});

describe('the mutants', () => {
  it('all fit the present sources', () => {
    const misfits: string[] = [];
    for (const mutant of allMutants) {
      const texts = new Map<string, string>();
      for (const edit of editsOf(mutant)) {
        const path = join(ROOT, 'server/src', edit.file);
        const text = texts.get(path) ?? readFileSync(path, 'utf8');
        try {
          texts.set(path, edited(mutant.name, edit, text));
        } catch (error) {
          misfits.push(String(error));
        }
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

  it('have unique names', () => {
    const names = allMutants.map((mutant) => mutant.name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  it('change production code, not tests', () => {
    const files = allMutants.flatMap((mutant) => editsOf(mutant).map((edit) => edit.file));
    const foreign = /^(simulated|testing)\/|\.test\.ts$|^storage\/memory-store|^net\/memory-/;
    expect(files.filter((file) => foreign.test(file))).toEqual([]);
  });
});
