#!/usr/bin/env node
/**
 * The door of the `rookery` command: loads the program, in one file if there is a fresh one.
 *
 * `npm run build` writes `bundled.js` beside us, all that a member needs in a single module: the
 * three hundred files that it is made of take a quarter of a second of the processor to load, and
 * three members on one machine start together. It is never needed, and one that is older than what
 * it was made from is not used: so whoever runs `tsc -b` alone runs what was compiled.
 */
import { statSync } from 'node:fs';

const BUNDLE = './bundled.js';
/** Written by whatever changes what a bundle is made of. A published package has none of them. */
const SOURCES = [
  './.tsbuildinfo',
  '../../server/dist/.tsbuildinfo',
  '../../protocol/dist/.tsbuildinfo',
  '../../node_modules/.package-lock.json',
] as const;

const program: typeof import('./program.js') = await import(isFresh() ? BUNDLE : './program.js');
process.exit(await program.runProgram());

function isFresh(): boolean {
  const bundledMs = modifiedMs(BUNDLE);
  return SOURCES.every((path) => modifiedMs(path) < bundledMs);
}

/** 0 for a file that is not there: older than any, and as a bundle not fresh. */
function modifiedMs(path: string): number {
  return statSync(new URL(path, import.meta.url), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
