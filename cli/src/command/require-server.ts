/** The check of `--id`, and of the id in `CONFIG:ID`, that all commands about a member share. */
import { type Config, OperatorError } from '@rookery/server';

/** Throws OperatorError, which names the ids that there are. */
export function requireServer(config: Config, file: string, id: number): void {
  const ids = config.servers.map((server) => server.id);
  if (ids.includes(id)) return;
  throw new OperatorError(`${file} has no server with the id ${id}; its ids are ${ids.join(', ')}`);
}
