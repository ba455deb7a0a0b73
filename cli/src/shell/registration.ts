/**
 * Turns the table of commands into commander's commands, for `rookery <command>` and for the lines
 * of `rookery sh` alike, so that both accept the same words.
 */
import { type Command, Option } from 'commander';
import type { CommandSpec } from '../command/command.js';
import { FORMATS } from '../command/output.js';
import { wholeNumber } from '../terminal/numbers.js';
import { TLS_OPTIONS } from './tls-options.js';

/** Runs one command with the arguments that commander has parsed. */
type Runner = (
  spec: CommandSpec,
  args: readonly unknown[],
  options: Readonly<Record<string, unknown>>,
) => Promise<void>;

const TIMEOUT_S_DEFAULT = 10;
const TIMEOUT_S_MAX = 86_400;

interface Registration {
  readonly specs: readonly CommandSpec[];
  readonly run: Runner;
  /** Whether each command names its ensemble; in the shell there is one already. */
  readonly withTarget: boolean;
}

const GROUPS: Readonly<Record<string, string>> = {
  acl: 'Who may do what with a znode.',
  quota: 'How many znodes and bytes a subtree may have.',
  context: 'Named ensembles with their credentials.',
  sessions: 'Who is connected, and what each session owns; "ls" unless another is named.',
};

export function register(program: Command, { specs, run, withTarget }: Registration): void {
  const groups = new Map<string, Command>();
  for (const spec of specs) {
    const [first = '', second] = spec.name.split(' ');
    let parent = program;
    if (second !== undefined) {
      parent = groups.get(first) ?? program.command(first).description(GROUPS[first] ?? '');
      groups.set(first, parent);
    }
    const command = parent.command(second ?? first, { isDefault: spec.isDefault === true });
    command.description(spec.summary);
    for (const { usage } of spec.args) command.argument(usage);
    for (const { flags, description, range } of spec.options ?? []) {
      const option = new Option(flags, description);
      if (range !== undefined) option.argParser(wholeNumber(range[0], range[1]));
      command.addOption(option);
    }
    if (spec.writes === true) command.option('--dry-run', 'say what would be done, and do nothing');
    if (spec.isPlain !== true) addFormat(command, spec);
    if (withTarget && spec.connects !== false) addTarget(command);
    command.action((...given: unknown[]) => {
      // The last two are the options and the command itself.
      return run(spec, given.slice(0, -2), command.opts());
    });
  }
}

function addFormat(command: Command, { format = 'table' }: CommandSpec): void {
  const option = new Option('-o, --output <format>', 'how data is written');
  command.addOption(option.choices(FORMATS).default(format));
}

export function addTarget(command: Command): void {
  command
    .option('--connect <hosts>', 'host:port,host:port/chroot (or ROOKERY_CONNECT)')
    .option('--context <name>', 'a saved context (or ROOKERY_CONTEXT)')
    .option('--auth-file <file>', 'credentials, a line each: scheme:auth (or ROOKERY_AUTH)')
    .option('--read-only', 'be content with a member that has no quorum')
    .addOption(
      new Option('--timeout <seconds>', 'how long a session, and each answer, may take')
        .default(TIMEOUT_S_DEFAULT)
        .argParser(wholeNumber(1, TIMEOUT_S_MAX)),
    );
  for (const { flags, description } of TLS_OPTIONS) command.option(flags, description);
}
