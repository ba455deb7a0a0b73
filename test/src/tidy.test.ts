/**
 * Every file obeys the rules of STYLE.md that a linter does not know. The test reads the sources as
 * text, with comments and strings blanked out, and lists every violation. The first tests show that
 * the rules detect violations.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as rules from './tidy/rules.js';
import { codeOf, root, type SourceFile, sourceFile, sourceFiles } from './tidy/source.js';

const files = sourceFiles();

function offenders(rule: (file: SourceFile) => readonly string[]): string[] {
  return files.flatMap((file) => rule(file).map((offence) => `${file.path} ${offence}`));
}

function packageJson(folder: string): Record<string, Record<string, string> | undefined> {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
}

const architecture = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');

describe('the rules', () => {
  it('look at code only, not at comments, strings, templates or regular expressions', () => {
    const open = '$' + '{';
    const text = `const a = \`x ${open}b(\`y ${open}c} "\`)} z\`; // Date\n/* Date */ f("Date", /[/"]Date/);`;
    const code = codeOf(text);
    expect(code).toHaveLength(text.length);
    expect(code.replace(/ +/g, ' ')).toBe(
      `const a = \` ${open}b(\` ${open}c} \`)} \`; \n f(" ", );`,
    );
  });

  it('treat only the string of an import statement as an import', () => {
    const text = "import 'a'; import('b'); export * from 'c'; Buffer.from('d'); s.import('e');";
    expect(sourceFile('cli/src/x.ts', text).imports).toEqual(['a', 'b', 'c']);
  });

  it('refuse an import against the direction, and test helpers in production code', () => {
    const offences = (path: string, name: string) =>
      rules.directionOffences(sourceFile(path, `import { a } from '${name}';`)).length;
    expect(offences('server/src/zab/a.ts', '../state/txn.js')).toBe(1);
    expect(offences('server/src/zab/a.ts', '../config/config.js')).toBe(1);
    expect(offences('server/src/zab/a.ts', '../state/memory/hash.js')).toBe(1);
    expect(offences('server/src/state/memory/a.ts', '../txn.js')).toBe(1);
    expect(offences('server/src/state/a.ts', './memory/hash.js')).toBe(0);
    expect(offences('server/src/member/a.ts', '../http/index.js')).toBe(1);
    expect(offences('server/src/storage/a.ts', '../net/tcp.js')).toBe(1);
    expect(offences('server/src/storage/a.ts', '../config/operator-error.js')).toBe(0);
    expect(offences('server/src/net/a.ts', '../pipeline/read.js')).toBe(0);
    expect(offences('server/src/net/a.ts', './testing/manual-timers.js')).toBe(1);
    expect(offences('protocol/src/a.ts', '@rookery/server')).toBe(1);
    expect(offences('client/src/a.ts', '@rookery/server')).toBe(1);
    expect(offences('server/src/net/a.ts', '@rookery/protocol/peer')).toBe(0);
    expect(offences('cli/src/a.ts', '@rookery/client')).toBe(0);
    expect(offences('cli/src/a.ts', '@rookery/server/testing')).toBe(1);
    expect(offences('server/src/a.ts', './simulated/scenario.js')).toBe(1);
    expect(offences('client/src/a.test.ts', '@rookery/server/testing')).toBe(0);
  });

  it('find folders that import each other, directly or by way of others', () => {
    const circle = (...imports: readonly (readonly [path: string, name: string])[]) =>
      rules.circleOffences(
        imports.map(([path, name]) => sourceFile(path, `import { a } from '${name}';`)),
      );
    expect(circle(['cli/src/a/x.ts', '../b/y.js'], ['cli/src/b/y.ts', '../c.js'])).toEqual([]);
    expect(
      circle(
        ['cli/src/a/x.ts', '../b/y.js'],
        ['cli/src/b/y.ts', '../c.js'],
        ['cli/src/c.ts', './a/z.js'],
      ),
    ).toHaveLength(3);
    expect(
      circle(
        ['server/src/state/x.ts', './memory/y.js'],
        ['server/src/state/memory/y.ts', '../z.js'],
      ),
    ).toHaveLength(2);
  });

  it('refuse time, randomness, promises and built-ins in a pure folder', () => {
    const offences = (text: string) =>
      rules.purityOffences(sourceFile('server/src/zab/a.ts', text)).length;
    expect(offences('const now = Date.now();')).toBe(1);
    expect(offences('const x = Math.random();')).toBe(1);
    expect(offences('async function f() { await g(); }')).toBe(2);
    expect(offences("import { randomBytes } from 'node:crypto';")).toBe(1);
    expect(offences('// Date, a Promise\nthis.process(update); const s = "Date";')).toBe(0);
  });

  it('refuse a spread of an object literal, wherever it is, and no other spread', () => {
    const offences = (text: string) => rules.spreadOffences(sourceFile('cli/src/a.ts', text));
    expect(offences('const a = { ...{ b, c }, d };')).toEqual(['line 1 spreads an object literal']);
    expect(offences('f({\n  a,\n  ... // Why not.\n  { b },\n});')).toHaveLength(1);
    const open = '$' + '{';
    expect(offences(`const a = \`${open}f({ ...{ b } })}\`;`)).toHaveLength(1);
    const others = [
      'const a = { ...b, ...(c === null ? {} : { c }), ...f({ d }) };',
      'const [a, ...b] = [...c, ...[d, e]];',
      'const { a, ...b } = c; // As in ...{ a, b }.',
      "const a = '...{ b }';",
    ];
    expect(others.flatMap(offences)).toEqual([]);
  });
});

describe('the tree', () => {
  it('contains no import against the direction of the folders', () => {
    expect(offenders(rules.directionOffences)).toEqual([]);
  });

  it('has no folders of a package that import each other in a circle', () => {
    expect(rules.circleOffences(files)).toEqual([]);
  });

  it('has no time, randomness, I/O or promise in zab, state, sessions and pipeline', () => {
    expect(offenders(rules.purityOffences)).toEqual([]);
  });

  it('has no line past 100 columns', () => {
    expect(offenders(rules.columnOffences)).toEqual([]);
  });

  it('has a header comment on every file', () => {
    expect(offenders(rules.headerOffences)).toEqual([]);
  });

  it('has no comment that names a file which is gone', () => {
    const names = new Set(files.map(({ path }) => posix.basename(path)).concat('vitest.config.ts'));
    expect(offenders((file) => rules.referenceOffences(file, names))).toEqual([]);
    const text = '/** See `zab/gone.ts` and leading.ts, not *.test.ts. */\nconst x = "other.ts";';
    expect(rules.referenceOffences(sourceFile('cli/src/x.ts', text), names)).toEqual([
      'line 1 names zab/gone.ts, which does not exist',
    ]);
  });

  it('spreads no object literal, which hides what an object has', () => {
    expect(offenders(rules.spreadOffences)).toEqual([]);
  });

  it('has no to-do without a condition', () => {
    expect(offenders(rules.toDoOffences)).toEqual([]);
  });

  it('makes every file of the product through the one function that follows no link', () => {
    expect(offenders(rules.fileOffences)).toEqual([]);
    const text = "import { rm, writeFile } from 'node:fs/promises';";
    expect(rules.fileOffences(sourceFile('cli/src/x.ts', text))).toHaveLength(1);
    expect(rules.fileOffences(sourceFile('cli/src/x.test.ts', text))).toEqual([]);
  });

  it('writes and reads every address with the functions that know of IPv6', () => {
    expect(offenders(rules.addressOffences)).toEqual([]);
    const offences = (text: string) =>
      rules.addressOffences(sourceFile('cli/src/x.ts', text)).length;
    const open = '$' + '{';
    expect(offences(`\`${open}host}:${open}port}\``)).toBe(2);
    expect(offences(`\`to ${open}server.name}:${open}server.clientPort}\``)).toBe(1);
    expect(offences(`\`${open}this.remoteAddress}:${open}number}\``)).toBe(1);
    expect(offences(`\`[${open}host}]\``)).toBe(1);
    expect(offences("hostText.lastIndexOf(':')")).toBe(1);
    expect(offences(`\`${open}minutes}:${open}seconds}\`; id.split(':')`)).toBe(0);
  });

  it('uses only packages that ARCHITECTURE.md gives a reason for', () => {
    const allowed = rules.packagesWithReason(architecture);
    expect(offenders((file) => rules.packageOffences(file, allowed))).toEqual([]);
    const declared = [
      '.',
      'protocol',
      'server',
      'client',
      'console',
      'cli',
      'test',
      'bench',
    ].flatMap((name) =>
      Object.keys({
        ...packageJson(name)['dependencies'],
        ...packageJson(name)['devDependencies'],
      }),
    );
    const unexplained = declared.filter(
      (name) => !name.startsWith('@rookery/') && !name.startsWith('@types/') && !allowed.has(name),
    );
    expect(unexplained).toEqual([]);
  });

  it('contains the files that a reader expects', () => {
    const names = [
      ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'STYLE.md', 'docs/README.md'],
      ...['LICENSE', 'ensemble.example.json'],
    ];
    expect(names.filter((name) => !existsSync(join(root, name)))).toEqual([]);
  });
});
