/**
 * `rookery ensemble`: runs all members on this machine, until Ctrl-C.
 *
 * It finds out which servers to run, checks that their ports are free before anything is written,
 * and runs them. Without `--config` the ensemble has a config file of its own in its data
 * directory, so that a second run finds the same members.
 */
import { join } from 'node:path';
import { loadEnsembleConfig, OperatorError } from '@rookery/server';
import { requireDirectories } from '../machine/directories.js';
import { requireFreePorts } from '../machine/ports.js';
import { createLogger } from '../terminal/log-output.js';
import { isBrokenPipe, unwritable } from '../terminal/standard-output.js';
import { Ensemble } from './ensemble.js';
import { prepareEnsembleFile, readEnsembleFile } from './ensemble-file.js';

const EXIT_FAILURE = 1;

export interface EnsembleCommand {
  readonly size?: number;
  readonly data?: string;
  readonly basePort?: number;
  readonly config?: string;
  /** On a terminal, shows the members' logs there instead of writing them to files. */
  readonly logs?: true;
}

/**
 * Resolves with the exit code once all members have stopped. `main` is the file that Node runs for
 * the `rookery` command.
 */
export async function runEnsemble(command: EnsembleCommand, main: string): Promise<number> {
  const plan = planOf(command);
  await requireFreePorts(plan);
  // Ports are not rewritten while the ensemble still runs on the old ones.
  if (plan.former !== undefined) await requireFreePorts({ ...plan, servers: plan.former });
  plan.write();
  const isForPeople = process.stdout.isTTY === true;
  const config = loadEnsembleConfig(plan.configPath);
  await requireDirectories(config);
  const { dataDir } = config;
  const logDir = isForPeople && command.logs !== true ? join(dataDir, 'logs') : null;
  const ensemble = new Ensemble(main, plan, { isForPeople, logDir }, createLogger('info', {}));
  const stop = () => ensemble.stop();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
  // The members' logs would have nowhere to go.
  let isUnwritable = false;
  process.stdout.on('error', (error) => {
    if (!isBrokenPipe(error)) {
      isUnwritable = true;
      process.stderr.write(`rookery: ${unwritable(error)}\n`);
    }
    stop();
  });
  const code = await ensemble.run();
  return code === 0 && isUnwritable ? EXIT_FAILURE : code;
}

function planOf(command: EnsembleCommand) {
  const { config, data, size, basePort } = command;
  if (config === undefined) return prepareEnsembleFile({ data: data ?? 'data', size, basePort });
  if (data !== undefined || size !== undefined || basePort !== undefined) {
    throw new OperatorError(
      '--config already determines what --size, --data and --base-port would set',
    );
  }
  return readEnsembleFile(config);
}
