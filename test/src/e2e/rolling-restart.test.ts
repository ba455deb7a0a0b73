/**
 * Members are restarted under load one after the other, to the next release and back to the
 * previous one until the ensemble level is raised, and nothing is lost or reordered.
 *
 * The previous release is this build with fewer capabilities (ROOKERY_WIRE_VERSION_MAX and
 * ROOKERY_LEVEL_MAX), or with ROOKERY_ROLLING_FROM the build of that commit, which is made in a
 * separate worktree. A linearizability search judges what clients saw.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { WIRE_VERSION_MAX, WIRE_VERSION_MIN } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { type Ensemble, newTestDirectory, useEnsemble } from '../harness/ensemble.js';
import { REPOSITORY, ROOKERY_MAIN } from '../harness/product.js';
import { RegisterLoad } from '../harness/register-load.js';
import { expectNothingLost } from '../harness/verify.js';
import { WriteLoad } from '../harness/write-load.js';

const DEADLINE_MS = 60_000;
const WRITES = 200;
const OPERATIONS = 100;
/** An older commit is built, and everything runs on a machine that may be busy. */
const TEST_MS = 600_000;

interface Build {
  readonly main: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** Every release can be held at the first level. */
const HELD = { ROOKERY_LEVEL_MAX: '10' } as const;
const NEWER: Build = { main: ROOKERY_MAIN, environment: {} };
const commit = process.env['ROOKERY_ROLLING_FROM'];

/** The worktree of the commit stays in the ignored folder of tests, for the next run. */
function olderBuild(): Build {
  if (commit === undefined || commit === '') {
    const versions = {
      ROOKERY_WIRE_VERSION_MAX: String(WIRE_VERSION_MAX - 1),
      ...HELD,
    };
    expect(WIRE_VERSION_MAX).toBeGreaterThan(WIRE_VERSION_MIN);
    return { main: ROOKERY_MAIN, environment: versions };
  }
  const folder = join(newTestDirectory(), '..', `built-${commit}`);
  const main = join(folder, 'cli/dist/main.js');
  if (!existsSync(main)) {
    const run = (file: string, args: readonly string[], cwd: string) =>
      execFileSync(file, args, { cwd, stdio: 'pipe' });
    run('git', ['worktree', 'add', '--detach', '--force', folder, commit], REPOSITORY);
    // Its workspaces are relative links, so they are those of the worktree.
    run('cp', ['-a', join(REPOSITORY, 'node_modules'), join(folder, 'node_modules')], folder);
    run('npm', ['run', 'build'], folder);
  }
  return { main, environment: HELD };
}

async function roll(ensemble: Ensemble, build: Build, loads: Loads): Promise<void> {
  for (const member of ensemble.members) {
    await member.stop();
    await loads.progress();
    member.start(build.environment, build.main);
    await ensemble.serving(ensemble.ids);
    await loads.progress();
  }
}

class Loads {
  readonly writes: WriteLoad;
  readonly registers: RegisterLoad;

  constructor(ports: readonly number[]) {
    this.writes = new WriteLoad({ ports });
    this.registers = new RegisterLoad(ports);
  }

  async start(): Promise<void> {
    await this.writes.start();
    await this.registers.start();
  }

  async progress(): Promise<void> {
    await this.writes.progress(WRITES, DEADLINE_MS);
    await this.registers.progress(OPERATIONS, DEADLINE_MS);
  }

  async stop(): Promise<void> {
    await this.writes.stop();
    await this.registers.stop();
  }
}

function levelsRaised(ensemble: Ensemble): number {
  return ensemble.members.filter((member) => member.log().includes('level.raised')).length;
}

it(
  'a rolling restart goes to the next release and back, until the level is raised',
  async () => {
    const older = olderBuild();
    const held: Build = { ...NEWER, environment: HELD };
    const ensemble = await useEnsemble();
    for (const member of ensemble.members) member.start(older.environment, older.main);
    await ensemble.serving(ensemble.ids);
    const loads = new Loads(ensemble.ports);
    await loads.start();
    await roll(ensemble, held, loads);
    await roll(ensemble, older, loads);
    expect(levelsRaised(ensemble)).toBe(0);
    await roll(ensemble, NEWER, loads);
    for (const member of ensemble.members) {
      await member.waitForLog(/level\.raised/, DEADLINE_MS);
    }
    await loads.progress();
    await loads.stop();
    expect(loads.registers.verdicts()).toEqual(Array(4).fill('linearizable'));
    await expectNothingLost(ensemble, loads.writes.ledgers);
    const last = ensemble.member(3);
    await last.stop();
    const mark = last.logMark();
    last.start(older.environment, older.main);
    expect(await last.exited).toMatchObject({ code: 2 });
    expect(last.linesSince(mark).join('')).toMatch(
      /the ensemble is at level \d+, this release knows/,
    );
  },
  TEST_MS,
);
