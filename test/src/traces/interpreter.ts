/**
 * Runs a trace: it reads commands and prints everything that the ensemble does.
 *
 * A trace consists of blocks: `command`, a line `----`, the output, an empty line; `#` begins a
 * comment. Several commands may share a block. The prefix `quiet` suppresses a command's output. A
 * broken invariant ends the trace with its message, so it can never look like a good one.
 */
import { assert } from '@rookery/protocol';
import { clientCommands } from './commands/client.js';
import { clusterCommands } from './commands/cluster.js';
import { diskCommands } from './commands/disk.js';
import { networkCommands } from './commands/network.js';
import { timeCommands } from './commands/time.js';
import { viewCommands } from './commands/view.js';
import { type Command, Session } from './session.js';

const COMMANDS: Readonly<Record<string, Command>> = {
  ...clusterCommands,
  ...networkCommands,
  ...diskCommands,
  ...clientCommands,
  ...timeCommands,
  ...viewCommands,
};

interface Block {
  /** Comments, empty lines and commands as they are in the file. */
  readonly head: readonly string[];
  readonly commands: readonly string[];
}

/** Returns the text of the trace with the actual output of its commands. */
export function runTrace(text: string): string {
  const session = new Session();
  const parts: string[] = [];
  for (const { head, commands } of blocksOf(text)) {
    if (commands.length === 0) {
      parts.push(head.join('\n'));
      continue;
    }
    const output = session.capture(() => {
      for (const command of commands) runCommand(session, command);
    });
    const shown = output.length === 0 ? ['ok'] : output;
    parts.push([...head, '----', ...shown, ''].join('\n'));
  }
  return `${parts.join('\n').trimEnd()}\n`;
}

function runCommand(session: Session, line: string): void {
  const words = line.split(/\s+/);
  const quiet = words[0] === 'quiet';
  const [name = '', ...rest] = quiet ? words.slice(1) : words;
  const command = COMMANDS[name];
  assert(command !== undefined, `unknown command: ${line}`);
  if (quiet) session.capture(() => command(session, rest));
  else command(session, rest);
}

function blocksOf(text: string): readonly Block[] {
  const blocks: Block[] = [];
  let head: string[] = [];
  let commands: string[] = [];
  let inOutput = false;
  for (const line of text.trimEnd().split('\n')) {
    if (inOutput) {
      if (line === '') inOutput = false;
      continue;
    }
    if (line === '----') {
      blocks.push({ head, commands });
      head = [];
      commands = [];
      inOutput = true;
      continue;
    }
    head.push(line);
    if (line.trim() !== '' && !line.startsWith('#')) commands.push(line.trim());
  }
  if (head.length > 0) blocks.push({ head, commands });
  return blocks;
}
