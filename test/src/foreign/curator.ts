/**
 * Curator as Debian packages it: where its jars are, whether they exist, and how the programs
 * beside this file are compiled against them.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { mayLack } from '../harness/foreign.js';

const JAVAC = '/usr/bin/javac';
const JARS = '/usr/share/java';
const RECIPES_JAR = join(JARS, 'curator-recipes.jar');
/** Each jar names in its manifest the other jars that it needs. */
const CLASS_PATH = [
  RECIPES_JAR,
  ...['curator-framework', 'curator-client', 'zookeeper', 'zookeeper-jute', 'guava'],
  ...['slf4j-api', 'slf4j-nop'],
]
  .map((jar) => (jar.startsWith('/') ? jar : join(JARS, `${jar}.jar`)))
  .join(':');
const COMPILE_DEADLINE_MS = 180_000;

const run = promisify(execFile);

/** A compiled program. */
export interface JavaProgram {
  readonly file: 'java';
  /** The command up to the name of the class; the program's own arguments follow. */
  readonly args: readonly string[];
  /** Removes the compiler's output. */
  readonly remove: () => void;
}

/** For `skipIf`: true if there is no Java or no Curator and that is tolerated. */
export function mayLackCurator(): boolean {
  return mayLack(JAVAC) || mayLack(RECIPES_JAR);
}

/** Compiles the class and Checks; fails with the compiler's messages, including warnings. */
export async function compileJava(className: string): Promise<JavaProgram> {
  const directory = mkdtempSync(join(tmpdir(), 'rookery-curator-'));
  const remove = () => rmSync(directory, { recursive: true, force: true });
  const sources = [className, 'Checks'].map(
    (name) => new URL(`./curator/${name}.java`, import.meta.url).pathname,
  );
  try {
    const { stdout, stderr } = await run(
      JAVAC,
      ['-cp', CLASS_PATH, '-d', directory, '-Xlint:all,-path', ...sources],
      { timeout: COMPILE_DEADLINE_MS, killSignal: 'SIGKILL' },
    );
    if (stdout + stderr !== '') throw new Error(stdout + stderr);
  } catch (error) {
    remove();
    throw error;
  }
  // It lives for seconds, so the second compiler's output would come too late.
  const flags = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];
  const args = [...flags, '-cp', `${directory}:${CLASS_PATH}`, className];
  return { file: 'java', args, remove };
}
