/**
 * The `rookery` command: reads the arguments, runs one command, and turns its result into an exit
 * code.
 *
 * 0 is a clean stop, 2 a mistake of the caller (arguments, config, a port in use, a directory that
 * belongs to somebody else), 141 an output whose reader has gone, 1 everything else. A mistake
 * prints only its message on standard error; anything unexpected prints its stack. Called by
 * `main.ts`.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { OperatorError, StorageFault } from '@rookery/server';
import { Argument, Command, CommanderError } from 'commander';
import type { FromZooCfg } from './config/config-command.js';
import { type EnsembleCommand, runEnsemble } from './ensemble/ensemble-command.js';
import { addInspect } from './inspecting/commands.js';
import { limitLookups } from './machine/lookup-limit.js';
import { addMirror } from './mirror/commands.js';
import { addDataCommands } from './moving/commands.js';
import { runServer } from './server/server-command.js';
import { addTarget, register } from './shell/registration.js';
import { COMMANDS } from './shell/table.js';
import { wholeNumber } from './terminal/numbers.js';
import { continueWithoutErrors, endWithOutput, outputWritten } from './terminal/standard-output.js';
import { visible } from './terminal/visible-text.js';

const EXIT_FAILURE = 1;
const EXIT_MISTAKE = 2;
/** Commands that hold no session open while they print: if a write fails, they end at once. */
const PRINTING: ReadonlySet<string> = new Set([
  'status',
  'health',
  'inspect',
  'config',
  'backup',
  'restore',
  'recover',
  'import',
  'export',
  'completion',
  'mirror',
  'console',
]);

/** The commands that run members. Members have limits of their own for lookups that hang. */
const RUNNING_MEMBERS: ReadonlySet<string> = new Set(['server', 'ensemble']);

/** Resolves with the exit code; never rejects. */
export async function runProgram(): Promise<number> {
  continueWithoutErrors();
  let code = 0;
  const onEnd = (exitCode: number): void => {
    code = exitCode;
  };
  const program = new Command('rookery')
    .description("A replicated coordination service that speaks ZooKeeper's client protocol.")
    .version(version())
    .exitOverride()
    .enablePositionalOptions()
    .showHelpAfterError('(rookery --help lists the commands)');
  program
    .command('server')
    .description('Run one member in the foreground; SIGTERM or Ctrl-C stops it cleanly.')
    .requiredOption('--config <file>', 'the config file that all members share')
    .requiredOption('--id <n>', 'the id of the server to run', wholeNumber(1, 255))
    .option('--found', 'found an ensemble although not every configured member is reachable')
    .action(async (options: { config: string; id: number; found?: true }) => {
      code = await runServer({ ...options, found: options.found === true });
    });
  program
    .command('ensemble')
    .description('Run all members of an ensemble on this machine, each in its own process.')
    .option('--size <n>', 'number of members (default: 3, or as in DIR)', wholeNumber(1, 99))
    .option('--data <dir>', 'directory for their data (default: ./data)')
    .option(
      '--base-port <port>',
      'first client port; peer ports are 700 above, admin ports 800 (default: 2181, or as in DIR)',
      wholeNumber(1, 64_600),
    )
    .option('--config <file>', 'run the servers in this config file instead')
    .option(
      '--logs',
      "on a terminal: show the members' logs (default: in files of the data directory)",
    )
    .action(async (options: EnsembleCommand) => {
      code = await runEnsemble(options, entryPoint());
    });
  addStatus(program, onEnd);
  addHealth(program, onEnd);
  addInspect(program, onEnd);
  addConfig(program, onEnd);
  addMirror(program, onEnd);
  register(program, {
    specs: COMMANDS,
    withTarget: true,
    run: async (spec, args, options) => {
      const { runOne } = await import('./shell/one-command.js');
      code = await runOne(spec, args, options);
    },
  });
  addShell(program, onEnd);
  addZk(program, onEnd);
  addConsole(program, onEnd);
  addDataCommands(program, onEnd);
  addCompletion(program);
  for (const command of program.commands) pointToHelp(command, `rookery ${command.name()}`);
  for (const command of program.commands.filter((one) => !RUNNING_MEMBERS.has(one.name()))) {
    command.hook('preAction', () => limitLookups(process.env));
  }
  for (const command of program.commands.filter((one) => PRINTING.has(one.name()))) {
    command
      .hook('preAction', endWithOutput)
      .hook('postAction', () => outputWritten(process.stdout));
  }
  try {
    await program.parseAsync();
    return code;
  } catch (error) {
    return report(error);
  }
}

/** After a mistake, each command names the help of its own. */
function pointToHelp(command: Command, name: string): void {
  command.showHelpAfterError(`(see ${name} --help)`);
  for (const below of command.commands) pointToHelp(below, `${name} ${below.name()}`);
}

interface StatusOptions {
  readonly config?: string;
  readonly connect?: string;
  readonly context?: string;
  readonly timeout: number;
  readonly wait: number;
  readonly json?: true;
}

function addStatus(program: Command, onEnd: (code: number) => void): void {
  program
    .command('status')
    .description(
      'Show which servers, of Rookery or ZooKeeper, lead and follow; 0 if all serve, 1 if not.',
    )
    .option('--config <file>', 'the config file that all members share')
    .option('--connect <hosts>', 'alternatively, host:port,host:port; a chroot is ignored')
    .option('--context <name>', 'or a saved context (default: as for other commands)')
    .option('--timeout <ms>', 'how long an answer may take', wholeNumber(1, 600_000), 2000)
    .option('--wait <seconds>', 'ask again until all serve', wholeNumber(0, 86_400), 0)
    .option('--json', 'as JSON')
    .action(async ({ timeout, wait, json, context, ...from }: StatusOptions) => {
      const { runStatus } = await import('./status/status-command.js');
      const how = { timeoutMs: timeout, waitSeconds: wait, json: json === true };
      if (from.config !== undefined && context === undefined) {
        onEnd(await runStatus({ ...from, ...how }));
        return;
      }
      const { targetOf } = await import('./command/target.js');
      const { readTls } = await import('./command/client-proofs.js');
      const options = { connect: from.connect, context, timeoutMs: timeout, readOnly: false };
      // A chroot is of clients only.
      const target = targetOf(options, process.env);
      const [connect = ''] = target.connect.split('/');
      const { tls: files } = target;
      const tls = files === null ? undefined : () => readTls(files);
      onEnd(await runStatus({ ...from, tls, connect, ...how }));
    });
}

interface HealthOptions {
  readonly config?: string;
  readonly id?: number;
  readonly url?: string;
  readonly live?: true;
  readonly exclude?: string;
  readonly timeout: number;
}

function addHealth(program: Command, onEnd: (code: number) => void): void {
  program
    .command('health')
    .description('Probe whether a member serves, or is alive; exit code 0 for yes, 1 for no.')
    .option('--config <file>', 'the config file that all members share')
    .option('--id <n>', 'the id of the server to ask', wholeNumber(1, 255))
    .option('--url <url>', 'ask this metricsPort or adminPort instead: http://host:port')
    .option('--live', 'whether it is alive, with or without a quorum (default: whether it serves)')
    .option('--exclude <checks>', 'checks to ignore, separated by commas')
    .option('--timeout <ms>', 'how long an answer may take', wholeNumber(1, 600_000), 1000)
    .action(async ({ live, timeout, ...options }: HealthOptions) => {
      const { runHealth } = await import('./status/health-command.js');
      onEnd(await runHealth({ ...options, live: live === true, timeoutMs: timeout }));
    });
}

function addConfig(program: Command, onEnd: (code: number) => void): void {
  const config = program.command('config').description('Convert and check config files.');
  config
    .command('check <file>')
    .description('Check rules, names, ports, directories and clocks; exit code 0 if all pass.')
    .option('--id <n>', 'the member that is to run on this machine', wholeNumber(1, 255))
    .action(async (file: string, { id = null }: { id?: number | null }) => {
      const { runConfigCheck } = await import('./config/config-check.js');
      onEnd(await runConfigCheck({ file, id }));
    });
  config
    .command('hash-password <user>')
    .description('Hash the password on standard input for adminUsers, adminReaders or superDigest.')
    .action(async (user: string) => {
      const { runHashPassword } = await import('./config/hash-password-command.js');
      onEnd(await runHashPassword(user));
    });
  config
    .command('from-zoo-cfg <file>')
    .description("Convert ZooKeeper's zoo.cfg to a config file, and report on each of its keys.")
    .option('--jaas <file>', "and the JAAS file that ZooKeeper's servers have for SASL")
    .option('--users <file>', 'the file that is made for its users of DIGEST-MD5')
    .option('--secrets <dir>', 'the directory in which files for passphrases and secrets are made')
    .action(async (file: string, options: Omit<FromZooCfg, 'file'>) => {
      const { runFromZooCfg } = await import('./config/config-command.js');
      onEnd(runFromZooCfg({ file, ...options }));
    });
}

function addShell(program: Command, onEnd: (code: number) => void): void {
  const shell = program
    .command('sh')
    .description('Run the same commands interactively, with a history and completion.');
  addTarget(shell);
  shell.action(async (options: Readonly<Record<string, unknown>>) => {
    const { runShell } = await import('./shell/interactive/shell.js');
    const { targetOptions } = await import('./shell/one-command.js');
    onEnd(await runShell(targetOptions(options), COMMANDS));
  });
}

/** ZooKeeper's shell has single dashes before whole words, which commander does not know. */
function addZk(program: Command, onEnd: (code: number) => void): void {
  const zk = program
    .command('zk [words...]')
    .description("ZooKeeper's shell: zk [-server host:port] [command ...]; lines of stdin without.")
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions();
  zk.action(async () => {
    const { runZkShell, zkStart } = await import('./shell/zk/shell.js');
    const { targetOf } = await import('./command/target.js');
    const { server: connect, words, timeoutMs, readOnly } = zkStart(zk.args);
    const connectOption = '-server';
    const target = targetOf({ connect, connectOption, timeoutMs, readOnly }, process.env);
    onEnd(await runZkShell({ words, target, version: version() }));
  });
}

interface ConsoleOptions extends Readonly<Record<string, unknown>> {
  readonly port: number;
  readonly write: boolean;
}

function addConsole(program: Command, onEnd: (code: number) => void): void {
  const command = program
    .command('console')
    .description('Serve the web console for Rookery or ZooKeeper to this machine, until Ctrl-C.')
    .option(
      '--port <port>',
      'where to serve it (default: any that is free)',
      wholeNumber(0, 65_535),
    )
    .option('--no-write', 'offer nothing that changes anything');
  addTarget(command);
  command.action(async ({ port = 0, write, ...options }: ConsoleOptions) => {
    const { runConsole } = await import('./console/console-command.js');
    const { targetOptions } = await import('./shell/one-command.js');
    const { targetOf } = await import('./command/target.js');
    const target = targetOf(targetOptions(options), process.env);
    onEnd(await runConsole({ target, port, mayWrite: write }));
  });
}

function addCompletion(program: Command): void {
  program
    .command('completion')
    .description('Print a completion script for a shell: bash, zsh or fish.')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .action(async (shell: 'bash' | 'zsh' | 'fish') => {
      const { completionScript } = await import('./terminal/completion-scripts.js');
      process.stdout.write(completionScript(program, shell));
    });
}

function report(error: unknown): number {
  // Commander has printed its own message.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_MISTAKE;
  if (error instanceof OperatorError) {
    process.stderr.write(`rookery: ${visible(error.message)}\n`);
    return EXIT_MISTAKE;
  }
  // The disk failed, which is no mistake of the caller: a supervisor may try again.
  if (error instanceof StorageFault) {
    process.stderr.write(`rookery: ${visible(error.message)}\n`);
    return EXIT_FAILURE;
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`rookery: ${visible(text)}\n`);
  return EXIT_FAILURE;
}

/** The file that Node runs. It is beside this one, and beside the bundle that this one is in. */
function entryPoint(): string {
  return fileURLToPath(new URL('./main.js', import.meta.url));
}

function version(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  const parsed: { version?: unknown } = JSON.parse(text);
  return String(parsed.version);
}
