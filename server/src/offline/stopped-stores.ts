/** Opens what a member that does not run has on its disk, and keeps others out meanwhile. */
import { access } from 'node:fs/promises';
import { type Config, memberDirectories } from '../config/config.js';
import { OperatorError } from '../config/operator-error.js';
import { openStores, StoreLockedError } from '../storage/index.js';

/** Rejects with OperatorError where there is no data, or where the member runs. */
export async function stoppedStores(
  config: Config,
  id: number,
): Promise<Awaited<ReturnType<typeof openStores>>> {
  const { data } = memberDirectories(config, id);
  await access(data).catch((cause: unknown) => {
    throw new OperatorError(`${data} does not exist: member ${id} has no data here`, { cause });
  });
  try {
    return await openStores({ ...config, memberId: id });
  } catch (cause) {
    if (!(cause instanceof StoreLockedError)) throw cause;
    throw new OperatorError(
      `member ${id} runs, or another command reads it: ${cause.message}. Stop it first; ` +
        '`rookery backup save --url` saves a member that runs',
      { cause },
    );
  }
}
