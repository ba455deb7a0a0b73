/**
 * A client that reaches each member through a proxy which can lose the reply to a chosen request.
 * Proxies and client end with the running test.
 */
import { type Client, type ConnectOptions, connect } from '@rookery/client';
import { onTestFinished } from 'vitest';
import { ClientProxy, type DroppedReply, ReplyTrap } from '../harness/client-proxy.js';
import type { Ensemble } from '../harness/ensemble.js';
import { freePorts } from '../harness/ports.js';

export interface ReplyLosingClient {
  readonly client: Client;
  /** The reply to the next request of the operation is lost; resolves when it has been. */
  loseReplyTo(opcode: number): Promise<DroppedReply>;
}

export async function useReplyLosingClient(
  ensemble: Ensemble,
  options: ConnectOptions = {},
): Promise<ReplyLosingClient> {
  const trap = new ReplyTrap();
  const ports = await freePorts(ensemble.ports.length);
  const proxies = await Promise.all(
    ensemble.ports.map((target, index) =>
      ClientProxy.listen({ port: ports[index] ?? 0, target, trap }),
    ),
  );
  onTestFinished(async () => {
    await Promise.all(proxies.map((proxy) => proxy.close()));
  });
  const hosts = proxies.map(({ port }) => `127.0.0.1:${port}`).join(',');
  const client = await connect(hosts, { reconnectDelayBaseMs: 20, ...options });
  onTestFinished(() => client.close());
  return { client, loseReplyTo: (opcode) => trap.arm(opcode) };
}
