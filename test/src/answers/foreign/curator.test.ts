/**
 * The recipes of Apache Curator, as Debian's libcurator-recipes-java contains them.
 *
 * A Java program, compiled here, runs every recipe between two clients at two members and prints
 * one line for each. The program itself contains the checks.
 */
import { expect, it, onTestFinished } from 'vitest';
import { runCommand } from '../../foreign/command.js';
import { compileJava, mayLackCurator } from '../../foreign/curator.js';
import { useServingEnsemble } from '../../harness/ensemble.js';

const COMPILE_DEADLINE_MS = 180_000;
const RECIPES_DEADLINE_MS = 360_000;

const RECIPES = [
  'InterProcessMutex',
  'InterProcessReadWriteLock',
  'InterProcessSemaphoreV2',
  'LeaderLatch',
  'LeaderSelector',
  'DistributedBarrier',
  'DistributedDoubleBarrier',
  'SharedCount',
  'DistributedAtomicLong',
  'CuratorCache',
  'PersistentNode',
  'GroupMember',
  'DistributedQueue',
];

it.skipIf(mayLackCurator())(
  'every recipe of Curator keeps its promise between two members',
  async () => {
    const ensemble = await useServingEnsemble();
    const program = await compileJava('CuratorRecipes');
    onTestFinished(program.remove);
    const servers = [1, 2].map((id) => `127.0.0.1:${ensemble.member(id).clientPort}`);
    const { code, output } = await runCommand({
      file: program.file,
      args: [...program.args, ...servers],
      deadlineMs: RECIPES_DEADLINE_MS,
    });
    console.log(output);
    expect(output.split('\n').filter((line) => /^\w+: /.test(line))).toEqual(
      RECIPES.map((recipe) => `${recipe}: ok`),
    );
    expect(code).toBe(0);
  },
  COMPILE_DEADLINE_MS + RECIPES_DEADLINE_MS,
);
