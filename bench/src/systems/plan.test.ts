/** Which program the members of each system run, and what is said where it is not there. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type EnsembleOptions, missingFor, planMembers, ROOKERY } from './plan.js';

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'rookery-plan-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Another checkout; built if it has the program of the members. */
function newCheckout({ isBuilt }: { readonly isBuilt: boolean }) {
  const checkout = newDirectory();
  const program = join(checkout, 'cli', 'dist', 'main.js');
  if (isBuilt) {
    mkdirSync(join(checkout, 'cli', 'dist'), { recursive: true });
    writeFileSync(program, '');
  }
  return { checkout, program };
}

function optionsOf(given: Pick<EnsembleOptions, 'system' | 'baseline'>): EnsembleOptions {
  return {
    ...given,
    directory: newDirectory(),
    members: 3,
    basePort: 1,
    javaHeapMegabytes: null,
    memberSettings: {},
    profileDirectory: null,
  };
}

it('runs the baseline from its own checkout, and the rest from this one', () => {
  const { checkout, program } = newCheckout({ isBuilt: true });
  const programsOf = (system: 'rookery' | 'baseline') =>
    planMembers(optionsOf({ system, baseline: checkout })).map(({ command }) =>
      command.filter((word) => word.endsWith('main.js')),
    );
  expect(programsOf('baseline')).toEqual([[program], [program], [program]]);
  expect(programsOf('rookery')).toEqual([[ROOKERY], [ROOKERY], [ROOKERY]]);
  expect(program).not.toBe(ROOKERY);
});

it('names the program of a baseline that has not been built', () => {
  const { checkout, program } = newCheckout({ isBuilt: false });
  expect(missingFor('baseline', checkout)).toBe(`${program} is missing: npm run build`);
  expect(missingFor('baseline', newCheckout({ isBuilt: true }).checkout)).toBeNull();
});

it('looks for the own program whatever the baseline is', () => {
  const { checkout } = newCheckout({ isBuilt: false });
  expect(missingFor('rookery', checkout)).toBe(missingFor('rookery', null));
});

it('refuses a baseline without the path of a checkout', () => {
  expect(() => missingFor('baseline', null)).toThrow('baseline needs the path of a checkout');
  expect(() => planMembers(optionsOf({ system: 'baseline', baseline: null }))).toThrow(
    'baseline needs the path of a checkout',
  );
});
