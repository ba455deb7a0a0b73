/**
 * `rookery inspect checkpoint` shows the checkpoint and the log of a member that does not run, and
 * whether they are sound.
 *
 * Exit code 0: sound; 1: damaged; 2: a mistake of the caller, such as a member that runs.
 */
import { loadEnsembleConfig, readCheckpointFacts } from '@rookery/server';
import { requireServer } from '../command/require-server.js';
import { print } from './print.js';

interface CheckpointCommand {
  readonly config: string;
  readonly id: number;
  readonly json: boolean;
}

export async function runInspectCheckpoint(command: CheckpointCommand): Promise<number> {
  const config = loadEnsembleConfig(command.config);
  requireServer(config, command.config, command.id);
  const facts = await readCheckpointFacts(config, command.id);
  const { state } = facts;
  const report = {
    member: command.id,
    'ensemble id': facts.ensembleId,
    'has served': facts.founded,
    epochs: `${facts.acceptedEpoch} accepted, ${facts.currentEpoch} current`,
    ...(facts.damaged === null ? {} : { damaged: facts.damaged }),
    checkpoint: zxidText(facts.zxid),
    digest: facts.digest,
    time: new Date(facts.timeMs).toISOString(),
    'ensemble level': facts.level,
    records: `${facts.records}, ${facts.recordBytes} bytes`,
    znodes: state.tree.descendantCount(state.tree.find('/')) + 1,
    'bytes in memory': state.bytes,
    sessions: facts.sessions,
    log: `after ${zxidText(facts.logBase)} to ${zxidText(facts.logLast)}`,
    'behind the checkpoint': `${facts.logBehind} transactions`,
  };
  await print(command.json ? `${JSON.stringify(report, null, 2)}\n` : textOf(report));
  return facts.damaged === null ? 0 : 1;
}

function textOf(report: Readonly<Record<string, unknown>>): string {
  const width = Math.max(...Object.keys(report).map((name) => name.length)) + 2;
  const lines = Object.entries(report).map(([name, value]) => `${name.padEnd(width)}${value}\n`);
  return lines.join('');
}

function zxidText(zxid: number): string {
  return `0x${zxid.toString(16)}`;
}
