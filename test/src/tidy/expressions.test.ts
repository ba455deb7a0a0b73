/**
 * No regular expression of the product takes more than linear time, whatever text it is given.
 *
 * Nobody has to know which texts come from a wire: all expressions in production code are judged,
 * literals and those that are built while a module is loaded, by recheck, which decides it from the
 * automaton of an expression. An expression of which it is not sure is refused, too.
 */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { expressionsIn, root, type SourceFile, sourceFiles } from './source.js';

// Its other backends start a process of Java or a native program.
process.env['RECHECK_BACKEND'] = 'pure';
const { checkSync } = await import('recheck');

/** Files that build expressions from what they are given, and why that is safe. */
const BUILT_AT_RUN_TIME: ReadonlyMap<string, string> = new Map([
  ['cli/src/shell/stoppable-pattern.ts', 'expressions of the user, which are stopped'],
]);

/** Bounds of steps only: with bounds of time a busy machine would judge otherwise. */
const BY_STEPS = {
  timeout: null,
  seedingTimeout: null,
  incubationTimeout: null,
  attackTimeout: null,
};

interface Expression {
  readonly source: string;
  readonly flags: string;
}

/** Null for what is linear; otherwise a reason. */
function offence({ source, flags }: Expression): string | null {
  // Without a repetition that has no bound, an expression reads a bounded number of characters.
  if (!/[*+]|\{\d+,\}/.test(source)) return null;
  const found = checkSync(source, flags, { ...BY_STEPS, randomSeed: 1 });
  if (found.status === 'safe') return null;
  const reason = found.status === 'vulnerable' ? found.complexity.summary : found.error.kind;
  return `/${source}/${flags}: ${reason}`;
}

function expressionOf(literal: string): Expression {
  const end = literal.lastIndexOf('/');
  return { source: literal.slice(1, end), flags: literal.slice(end + 1) };
}

const files = sourceFiles().filter(
  ({ path }) =>
    /^(protocol|server|client|cli|console)\//.test(path) &&
    !/\.test\.tsx?$|\/simulated\/|\/testing\//.test(path),
);

it('has no literal that takes more than linear time', { timeout: 300_000 }, () => {
  const judged = new Map<string, string | null>();
  const offences: string[] = [];
  for (const { path, text } of files) {
    for (const literal of expressionsIn(text).values()) {
      const known = judged.get(literal);
      const found = known === undefined ? offence(expressionOf(literal)) : known;
      judged.set(literal, found);
      if (found !== null) offences.push(`${path} ${found}`);
    }
  }
  expect(judged.size).toBeGreaterThan(100);
  expect(offences).toEqual([]);
});

/** How often the code of a file builds an expression. */
function builtIn({ code }: SourceFile): number {
  return code.match(/(?<![.\w])RegExp\(/g)?.length ?? 0;
}

it('builds no expression that takes more than linear time', { timeout: 300_000 }, async () => {
  const building = files.filter((file) => builtIn(file) > 0 && !BUILT_AT_RUN_TIME.has(file.path));
  const built: { readonly at: string; readonly expression: Expression }[] = [];
  const original = globalThis.RegExp;
  globalThis.RegExp = new Proxy(original, {
    construct: (target, [source, flags]: [string, string | undefined]) => {
      built.push({ at: new Error().stack ?? '', expression: { source, flags: flags ?? '' } });
      return new target(source, flags);
    },
  });
  try {
    // A query makes each of them a module that has not been loaded before.
    for (const { path } of building) await import(`${join(root, path)}?expressions`);
  } finally {
    globalThis.RegExp = original;
  }
  const offences = building.flatMap((file) => {
    const own = built.filter(({ at }) => at.split('\n')[2]?.includes(file.path));
    const some = own.map(({ expression }) => offence(expression)).filter((one) => one !== null);
    if (own.length < builtIn(file)) some.push('builds an expression after it was loaded');
    return some.map((one) => `${file.path} ${one}`);
  });
  expect(offences).toEqual([]);
});

it('refuses what backtracks, and what only a search from each position makes slow', () => {
  const isRefused = (literal: string) => offence(expressionOf(literal)) !== null;
  expect(['/:+$/', '/[ \\r]*$/', '/(a+)+$/', '/%.*$/'].filter((one) => !isRefused(one))).toEqual(
    [],
  );
  expect(['/^a+$/', '/:.*/s', '/[,;]+/', '/a{1,15}/'].filter(isRefused)).toEqual([]);
});
