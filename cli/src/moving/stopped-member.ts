/**
 * The state of a member that does not run, by its config file and its id.
 */
import {
  loadEnsembleConfig,
  OperatorError,
  readStoppedMember,
  type StoppedMember,
} from '@rookery/server';

export interface MemberOfFile {
  readonly config: string;
  readonly id: number;
}

/** Rejects with OperatorError. */
export async function readMember({ config, id }: MemberOfFile): Promise<StoppedMember> {
  const loaded = loadEnsembleConfig(config);
  if (!loaded.servers.some((server) => server.id === id)) {
    throw new OperatorError(`${config} has no server with the id ${id}`);
  }
  return await readStoppedMember(loaded, id);
}
