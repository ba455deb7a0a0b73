/**
 * The recipes of Apache Curator, as Debian's libcurator-recipes-java ships them.
 *
 * A Java program, compiled here, runs every recipe between two clients at two members and prints
 * one line for each. What it checks is written there.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { runCommand } from '../foreign/command.js';
import { useServingEnsemble } from '../harness/ensemble.js';
import { mayLack } from '../harness/foreign.js';

const PROGRAM = 'CuratorRecipes';
const SOURCES = [PROGRAM, 'Checks'].map(
  (name) => new URL(`../foreign/curator/${name}.java`, import.meta.url).pathname,
);
const JAVAC = '/usr/bin/javac';
const JARS = '/usr/share/java';
const RECIPES_JAR = join(JARS, 'curator-recipes.jar');
/** Each jar names in its manifest the others that it needs. */
const CLASS_PATH = [
  RECIPES_JAR,
  ...['curator-framework', 'curator-client', 'zookeeper', 'zookeeper-jute', 'guava'],
  ...['slf4j-api', 'slf4j-nop'],
]
  .map((jar) => (jar.startsWith('/') ? jar : join(JARS, `${jar}.jar`)))
  .join(':');
const COMPILE_DEADLINE_MS = 60_000;
const RECIPES_DEADLINE_MS = 120_000;

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

it.skipIf(mayLack(JAVAC) || mayLack(RECIPES_JAR))(
  'every recipe of Curator does between two members what it promises',
  async () => {
    const ensemble = await useServingEnsemble();
    const classes = mkdtempSync(join(tmpdir(), 'rookery-curator-'));
    onTestFinished(() => rmSync(classes, { recursive: true, force: true }));
    const compiled = await runCommand({
      file: JAVAC,
      args: ['-cp', CLASS_PATH, '-d', classes, ...SOURCES],
      deadlineMs: COMPILE_DEADLINE_MS,
    });
    expect(compiled).toEqual({ code: 0, output: '' });

    const servers = [1, 2].map((id) => `127.0.0.1:${ensemble.member(id).clientPort}`);
    const { code, output } = await runCommand({
      file: 'java',
      args: ['-cp', `${classes}:${CLASS_PATH}`, PROGRAM, ...servers],
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
