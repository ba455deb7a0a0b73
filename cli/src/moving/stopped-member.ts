/**
 * The state of a member that does not run, by its config file and its id.
 */
import { loadEnsembleConfig, readStoppedMember, type StoppedMember } from '@rookery/server';
import { requireServer } from '../command/require-server.js';

export interface MemberOfFile {
  readonly config: string;
  readonly id: number;
}

/** Rejects with OperatorError. */
export async function readMember({ config, id }: MemberOfFile): Promise<StoppedMember> {
  const loaded = loadEnsembleConfig(config);
  requireServer(loaded, config, id);
  return await readStoppedMember(loaded, id);
}
