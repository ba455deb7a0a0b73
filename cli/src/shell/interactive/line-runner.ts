/**
 * Runs the lines of `rookery sh`: the commands of the table, and those of the shell itself.
 *
 * A line never ends the shell but by `exit`; what fails is a sentence. Knows nothing of terminals.
 */
import type { Client } from '@rookery/client';
import { OperatorError } from '@rookery/server';
import { Command, CommanderError } from 'commander';
import {
  Call,
  type CommandSpec,
  EXIT,
  resolvePath,
  type Surroundings,
} from '../../command/command.js';
import { failureOf, missingChroot, NoAnswerError } from '../../command/failures.js';
import type { Output } from '../../command/output.js';
import { formatOf } from '../one-command.js';
import { register } from '../registration.js';
import { splitLine } from '../words.js';

interface LineRunnerParts {
  readonly specs: readonly CommandSpec[];
  readonly client: Client;
  /** What a call gets; the runner adds the directory and the output. */
  readonly around: Omit<Surroundings, 'directory' | 'output' | 'client' | 'signal' | 'isShell'>;
  readonly outputFor: (format: ReturnType<typeof formatOf>) => Output;
}

export const BUILT_INS: readonly string[] = ['cd ', 'pwd ', 'addauth ', 'help ', 'exit '];

const HELP = `
Of the shell itself:
  cd [path]             go there; paths that do not begin with / begin from there
  pwd                   where the shell is
  addauth scheme auth   present a credential from now on: addauth digest user:password
  help [command]        this, or what a command takes
  exit                  end the session and the shell (also Ctrl-D)
`;

export class LineRunner {
  directory = '/';
  isOver = false;
  readonly #parts: LineRunnerParts;

  constructor(parts: LineRunnerParts) {
    this.#parts = parts;
  }

  /** Resolves with the exit code of the line; never rejects. */
  async run(line: string, signal: AbortSignal): Promise<number> {
    const { words, openQuote } = splitLine(line);
    const [name, ...rest] = words;
    const plain = this.#parts.outputFor('table');
    try {
      if (openQuote !== null) {
        throw new OperatorError(
          `The line has no closing ${openQuote}: add it, or escape the opening one.`,
        );
      }
      if (name === undefined || name.startsWith('#')) return EXIT.done;
      if (name === 'exit' || name === 'quit') {
        this.isOver = true;
        return EXIT.done;
      }
      if (name === 'cd') return await this.#goTo(rest[0] ?? '/', signal);
      if (name === 'pwd') {
        await plain.value(this.directory, () => this.directory);
        return EXIT.done;
      }
      if (name === 'addauth') return await this.#addAuth(rest, plain);
      return await this.#runWords(words, signal);
    } catch (error) {
      const { code, sentence } = failureOf(error);
      const { client, around } = this.#parts;
      const reason =
        code === EXIT.no ? await missingChroot({ client, connect: around.connect() }) : null;
      const text = reason ?? sentence;
      if (text !== null) await plain.talk(text);
      return code;
    }
  }

  async #goTo(path: string, signal: AbortSignal): Promise<number> {
    const directory = resolvePath(this.directory, path);
    if ((await this.#parts.client.exists(directory, { signal })) === null) {
      throw new NoAnswerError(`${directory} does not exist.`);
    }
    this.directory = directory;
    return EXIT.done;
  }

  async #addAuth([scheme, auth, more]: readonly string[], output: Output): Promise<number> {
    if (scheme === undefined || auth === undefined || more !== undefined) {
      throw new OperatorError(
        'addauth takes a scheme and credentials, such as addauth digest user:password.',
      );
    }
    await this.#parts.client.addAuth(scheme, auth);
    await output.talk(`The credential of ${scheme} is presented from now on.`);
    return EXIT.done;
  }

  async #runWords(words: readonly string[], signal: AbortSignal): Promise<number> {
    let code: number = EXIT.done;
    const plain = this.#parts.outputFor('table');
    const said: string[] = [];
    const program = new Command('').exitOverride().enablePositionalOptions();
    program.configureOutput({
      writeOut: (text) => said.push(text),
      writeErr: (text) => said.push(text),
    });
    program.addHelpText('after', HELP).usage('COMMAND ...').helpCommand('help [command]');
    program.configureHelp({ commandUsage: usageOf });
    register(program, {
      specs: this.#parts.specs,
      withTarget: false,
      run: async (spec, args, options) => {
        const output = this.#parts.outputFor(formatOf(options));
        const { client, around } = this.#parts;
        const { directory } = this;
        const own = { output, directory, signal, isShell: true, client: async () => client };
        code = (await spec.run(new Call({ ...around, ...own }, args, options))) ?? EXIT.done;
      },
    });
    for (const command of program.commands) inherit(command, said);
    try {
      await program.parseAsync([...words], { from: 'user' });
    } catch (error) {
      if (!(error instanceof CommanderError)) throw error;
      code = error.exitCode === 0 ? EXIT.done : EXIT.mistake;
    }
    for (const text of said) await plain.talk(text.trimEnd());
    return code;
  }
}

/** As it is typed in the shell, which itself has no name. */
function usageOf(command: Command): string {
  const names: string[] = [];
  for (let one = command; one.parent !== null; one = one.parent) names.unshift(one.name());
  return [...names, command.usage()].join(' ');
}

/** Commands of commander do not end the process, nor write past the shell. */
function inherit(command: Command, said: string[]): void {
  command.exitOverride().configureOutput({
    writeOut: (text) => said.push(text),
    writeErr: (text) => said.push(text),
  });
  for (const below of command.commands) inherit(below, said);
}
