/**
 * Prints on a terminal what to do next, once all members of `rookery ensemble` serve. Programs get
 * only the connect string.
 */
import { basename, relative } from 'node:path';

interface Welcome {
  /** How the user called this program; see `commandOf`. */
  readonly command: string;
  readonly members: number;
  /** Null if the leader is unknown. */
  readonly leader: number | null;
  readonly elapsedMs: number;
  readonly connect: string;
  /** The address of the console; null if no member has an admin port. */
  readonly console: string | null;
  readonly configPath: string;
  readonly dataDir: string;
  /** Null where the members' logs are shown on the terminal. */
  readonly logDir: string | null;
}

/** Returns what a person types to run the program at `path`: its name, or node with the file. */
export function commandOf(path: string, directory: string): string {
  return basename(path) === 'rookery' ? 'rookery' : `node ${relative(directory, path)}`;
}

export function welcomeText(welcome: Welcome): string {
  const { command, members, leader, elapsedMs, connect, configPath, dataDir, logDir } = welcome;
  const { console: address } = welcome;
  const seconds = (elapsedMs / 1000).toFixed(1);
  const count = members === 1 ? '1 member serves' : `${members} members serve`;
  const leads = leader === null || members === 1 ? '' : `, member ${leader} leads`;
  const rows: readonly (readonly [name: string, value: string])[] = [
    ['connect', connect],
    ...(address === null ? [] : [['console', address] as const]),
    ['config', configPath],
    ['data', dataDir],
    ['logs', logDir ?? 'here'],
  ];
  const lines = [
    '',
    `Rookery is ready: ${count}${leads} (${seconds} s)`,
    '',
    ...rows.map(([name, value]) => `  ${name.padEnd(10)}${value}`),
    '',
    'Next, in another terminal:',
    `  ${command} status --config ${configPath}`,
    `  ${command} --help`,
    logDir === null ? '' : `Use --logs to see the members' logs here.`,
    'Ctrl-C stops all members.',
    '',
  ];
  return `${lines.filter((line, index) => line !== '' || lines[index - 1] !== '').join('\n')}\n`;
}
