/**
 * What these programs have in common: they connect to the servers that their first argument names,
 * do what they are for, and close their client, also when Ctrl-C ends them.
 */
import { connect } from '@rookery/client';

/**
 * Runs `main` with a client and with what follows the servers on the command line. Ctrl-C aborts
 * the signal: `main` hands it to whatever it waits for, and what that rejects with is no error then.
 *
 * @param {(zk: import('@rookery/client').Client, signal: AbortSignal, args: string[]) => Promise<void>} main
 * @param {import('@rookery/client').ConnectOptions} [options] of the client; its session lasts 6 s
 */
export async function run(main, options = {}) {
  const [servers = '127.0.0.1:2181', ...args] = process.argv.slice(2);
  const stop = new AbortController();
  const { signal } = stop;
  process.once('SIGINT', () => stop.abort());
  try {
    const zk = await connect(servers, { sessionTimeoutMs: 6_000, signal, ...options });
    await main(zk, signal, args).finally(() => zk.close());
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
