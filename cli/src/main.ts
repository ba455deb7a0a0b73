#!/usr/bin/env node
/**
 * The entry point of the `rookery` command: loads the program, from one file if there is a fresh
 * one.
 *
 * `npm run build` writes `bundled.js` next to this file: everything that a member needs, in a
 * single module. The three hundred files from which it is made take a quarter of a second of
 * processor time to load, and three members on one machine start together. The bundle is never
 * required, and one that is older than its sources is not used, so that whoever runs only `tsc -b`
 * runs what was compiled.
 */
import { statSync } from 'node:fs';

const BUNDLE = './bundled.js';
/**
 * Whatever changes the sources of a bundle writes these files. A published package has none of
 * them.
 */
const SOURCES = [
  './.tsbuildinfo',
  '../../server/dist/.tsbuildinfo',
  '../../protocol/dist/.tsbuildinfo',
  '../../client/dist/.tsbuildinfo',
  '../../node_modules/.package-lock.json',
] as const;

const program: typeof import('./program.js') = await import(isFresh() ? BUNDLE : './program.js');
process.exit(await program.runProgram());

function isFresh(): boolean {
  const bundledMs = modifiedMs(BUNDLE);
  return SOURCES.every((path) => modifiedMs(path) < bundledMs);
}

/** Returns 0 for a missing file, which is older than any other and makes a bundle not fresh. */
function modifiedMs(path: string): number {
  return statSync(new URL(path, import.meta.url), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
