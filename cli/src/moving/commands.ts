/**
 * The commands that move data: import, export, backup, restore. Their code is loaded when they run.
 */
import { type Command, InvalidArgumentError } from 'commander';
import { wholeNumber } from '../terminal/numbers.js';
import type { RestoreTarget } from './restore-command.js';

const WRITING: ReadonlySet<string> = new Set(['import', 'recover', 'export', 'backup', 'restore']);

type OnEnd = (code: number) => void;

interface TargetOptions {
  readonly config: string;
  readonly id?: number;
  readonly ensembleId?: string;
  readonly plan?: true;
  readonly json?: true;
}

interface MemberOptions {
  readonly config: string;
  readonly id: number;
}

export function addDataCommands(program: Command, onEnd: OnEnd): void {
  addImport(program, onEnd);
  addRecover(program, onEnd);
  addExport(program, onEnd);
  addBackup(program, onEnd);
  const restore = program
    .command('restore <file>')
    .description('Begin a new ensemble in empty directories from a backup.');
  withTarget(restore).action(async (file: string, options: TargetOptions) => {
    const { runRestore } = await import('./restore-command.js');
    onEnd(await runRestore(file, targetOf(options)));
  });
  for (const command of program.commands.filter((one) => WRITING.has(one.name()))) {
    // What they write holds the data of all znodes: other users of the machine get none.
    command.hook('preAction', () => void process.umask(0o077));
  }
}

function addRecover(program: Command, onEnd: OnEnd): void {
  const recover = program
    .command('recover')
    .description('Begin a new ensemble from the survivors of a lost majority.')
    .requiredOption('--from-config <file>', 'the config file of the lost ensemble')
    .requiredOption('--from <ids>', 'the surviving members, all of them stopped: 1 or 1,2', ids);
  withTarget(recover).action(
    async (options: TargetOptions & { fromConfig: string; from: readonly number[] }) => {
      const { runRecover } = await import('./restore-command.js');
      const survivors = { config: options.fromConfig, ids: options.from };
      onEnd(await runRecover(survivors, targetOf(options)));
    },
  );

  function ids(text: string): readonly number[] {
    return text.split(',').map(wholeNumber(1, 255));
  }
}

function addImport(program: Command, onEnd: OnEnd): void {
  const zookeeper = program
    .command('import')
    .description('Import data from another product.')
    .command('zookeeper')
    .description('Begin a new ensemble from the data of a stopped ZooKeeper, 3.4 to 3.9.')
    .requiredOption('--data-dir <dir>', "ZooKeeper's dataDir, which holds version-2")
    .option('--log-dir <dir>', "ZooKeeper's dataLogDir (default: its dataDir)")
    .option('--stop-at-damage', 'import what precedes a damaged transaction (default: refuse)');
  withTarget(zookeeper).action(
    async (options: TargetOptions & { dataDir: string; logDir?: string; stopAtDamage?: true }) => {
      const { runImport } = await import('./restore-command.js');
      const { dataDir, logDir = null, stopAtDamage = false } = options;
      onEnd(await runImport({ dataDir, logDir, stopAtDamage }, targetOf(options)));
    },
  );
}

function addExport(program: Command, onEnd: OnEnd): void {
  const zookeeper = program
    .command('export')
    .description('Export data to another product.')
    .command('zookeeper')
    .description('Write a data directory for ZooKeeper from a stopped member.')
    .requiredOption('--into <dir>', 'the dataDir for ZooKeeper; version-2 in it must be empty');
  withMember(zookeeper).action(async (options: MemberOptions & { into: string }) => {
    const { runExport } = await import('./export-command.js');
    onEnd(await runExport(options, options.into));
  });
}

function addBackup(program: Command, onEnd: OnEnd): void {
  const backup = program.command('backup').description('Save, list, verify and remove backups.');
  backup
    .command('save <directory>')
    .description('Save the state of a member, and read it again to verify it.')
    .option('--url <url>', 'a running member: http://host:port of its admin port')
    .option('--config <file>', 'or the config file of a member that does not run')
    .option('--id <n>', 'and its id', wholeNumber(1, 255))
    .action(async (directory: string, options: Partial<MemberOptions> & { url?: string }) => {
      const { memberToSave, runBackupSave } = await import('./backup-command.js');
      onEnd(await runBackupSave(memberToSave(options), directory));
    });
  backup
    .command('list <directory>')
    .description('List the backups of a directory, the newest last.')
    .action(async (directory: string) => {
      const { runBackupList } = await import('./backup-command.js');
      onEnd(await runBackupList(directory));
    });
  backup
    .command('verify <file>')
    .description('Verify a backup: checksums, parents, digest; exit code 0 if it is sound.')
    .action(async (file: string) => {
      const { runBackupVerify } = await import('./backup-command.js');
      onEnd(await runBackupVerify(file));
    });
  backup
    .command('prune <directory>')
    .description('Remove all backups but the newest.')
    .requiredOption('--keep <n>', 'how many backups to keep', wholeNumber(1, 1_000_000))
    .option('--keep-days <n>', 'and the newest of each of so many days', wholeNumber(0, 36_500), 0)
    .action(async (directory: string, { keep, keepDays }: { keep: number; keepDays: number }) => {
      const { runBackupPrune } = await import('./backup-command.js');
      onEnd(await runBackupPrune(directory, { newest: keep, days: keepDays }));
    });
}

function withMember(command: Command): Command {
  return command
    .requiredOption('--config <file>', 'the config file that all members share')
    .requiredOption('--id <n>', 'the member, which must not run', wholeNumber(1, 255));
}

function withTarget(command: Command): Command {
  return command
    .requiredOption('--config <file>', 'the config file of the new ensemble')
    .option('--id <n>', 'only this member (default: all members of the file)', wholeNumber(1, 255))
    .option('--ensemble-id <id>', 'the id that the restore of the first member printed', ensembleId)
    .option('--plan', 'only report what would be done')
    .option('--json', 'print the report as JSON');
}

/** An id that was not copied whole would be noticed only when the members refuse each other. */
function ensembleId(text: string): string {
  if (/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(text)) return text;
  throw new InvalidArgumentError('Expected the whole id, as a restore has printed it.');
}

function targetOf(options: TargetOptions): RestoreTarget {
  const { config, id = null, ensembleId = null, plan = false, json = false } = options;
  return { config, id, ensembleId, plan, json };
}
