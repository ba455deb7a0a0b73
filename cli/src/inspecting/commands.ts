/**
 * The commands of `rookery inspect`, which look into files. Nothing is written, and their code is
 * loaded when they run.
 */
import { validatePath } from '@rookery/protocol';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { wholeNumber } from '../terminal/numbers.js';

type OnEnd = (code: number) => void;

interface LogOptions {
  readonly config?: string;
  readonly id?: number;
  readonly path?: string;
  readonly session?: bigint;
  readonly since?: number;
  readonly json?: boolean;
  readonly format?: 'zookeeper';
}

interface SnapshotOptions {
  readonly json?: boolean;
  readonly format?: 'zookeeper';
  readonly data?: boolean;
}

const SOURCE = 'a snapshot, a dataDir of ZooKeeper, or CONFIG:ID of a stopped member';

export function addInspect(program: Command, onEnd: OnEnd): void {
  const inspect = program.command('inspect').description('Inspect files without writing anything.');
  addLog(inspect, onEnd);
  inspect
    .command('snapshot <file>')
    .description('Summarize and check a snapshot of ZooKeeper 3.4 to 3.9.')
    .option('--json', 'as JSON')
    .addOption(zooKeeperFormat('SnapshotFormatter'))
    .option('--data', 'with the data of each znode, in base64; for --format')
    .action(async (file: string, { json = false, format, data = false }: SnapshotOptions) => {
      const { runInspect } = await import('./snapshot-command.js');
      const chosen = json ? 'json' : (format ?? 'text');
      onEnd(await runInspect({ file, format: chosen, withData: data }));
    });
  inspect
    .command('checkpoint')
    .description('Check the checkpoint and log of a stopped member; exit code 1 if damaged.')
    .requiredOption('--config <file>', 'the config file of the member')
    .requiredOption('--id <n>', 'and its id', wholeNumber(1, 255))
    .option('--json', 'as JSON')
    .action(async ({ json = false, ...of }: { config: string; id: number; json?: boolean }) => {
      const { runInspectCheckpoint } = await import('./checkpoint-command.js');
      onEnd(await runInspectCheckpoint({ ...of, json }));
    });
  addStateCommands(inspect, onEnd);
}

function addStateCommands(inspect: Command, onEnd: OnEnd): void {
  inspect
    .command('du <source>')
    .description(`List the largest subtrees. The source is ${SOURCE}.`)
    .option('--path <path>', 'only this subtree', znodePath, '/')
    .option('--depth <n>', 'levels to show separately', wholeNumber(0, 10_000), 1)
    .option('--json', 'as JSON')
    .action(async (source: string, options: { path: string; depth: number; json?: boolean }) => {
      const { runDu } = await import('./du-command.js');
      onEnd(await runDu({ source, ...options, json: options.json === true }));
    });
  inspect
    .command('diff <one> <other>')
    .description(`Compare two states; exit code 1 if they differ. Each is ${SOURCE}.`)
    .option('--path <path>', 'only this subtree', znodePath, '/')
    .option('--stats', 'compare zxids, times, versions and owners, too')
    .option('--json', 'as JSON')
    .action(
      async (
        one: string,
        other: string,
        { path, stats = false, json = false }: { path: string; stats?: boolean; json?: boolean },
      ) => {
        const { runDiff } = await import('./diff-command.js');
        onEnd(await runDiff({ one, other, path, stats, json }));
      },
    );
}

function addLog(inspect: Command, onEnd: OnEnd): void {
  inspect
    .command('log [file]')
    .description('List the transactions in the log of ZooKeeper or of a stopped member.')
    .option('--config <file>', 'the config file of the member')
    .option('--id <n>', 'and its id', wholeNumber(1, 255))
    .option('--path <path>', 'only what touches it or something below it', znodePath)
    .option(
      '--session <hex>',
      'only this session: its beginning, its writes and its end',
      sessionId,
    )
    .option('--since <time>', 'only from this time on: 2026-01-31T12:00:00Z', timeMs)
    .option('--json', 'one JSON object a line')
    .addOption(zooKeeperFormat('TxnLogToolkit'))
    .action(async (file: string | undefined, options: LogOptions) => {
      const { since, json = false, format, ...asked } = options;
      const { runInspectLog } = await import('./log-command.js');
      const more = since === undefined ? {} : { sinceMs: since };
      const chosen = json ? 'json' : (format ?? 'lines');
      onEnd(await runInspectLog({ file, ...asked, ...more, format: chosen }));
    });
}

function zooKeeperFormat(program: string): Option {
  const option = new Option('--format <format>', `zookeeper: as its ${program} prints it, in UTC`);
  return option.choices(['zookeeper']);
}

function znodePath(text: string): string {
  const problem = validatePath(text);
  if (problem === null) return text;
  throw new InvalidArgumentError(`Expected the path of a znode: ${problem}.`);
}

function sessionId(text: string): bigint {
  if (/^(0x)?[\da-f]{1,16}$/i.test(text)) return BigInt(`0x${text.replace(/^0x/i, '')}`);
  throw new InvalidArgumentError('Expected a session id in hex.');
}

function timeMs(text: string): number {
  const ms = Date.parse(text);
  if (!Number.isNaN(ms)) return ms;
  throw new InvalidArgumentError('Expected a time such as 2026-01-31T12:00:00Z.');
}
