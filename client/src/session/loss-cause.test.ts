/** Why a session is lost, as far as the client can know it. */
import { expect, it } from 'vitest';
import { ScriptedClient, SESSION_TIMEOUT_MS } from '../testing/scripted-client.js';
import { turn } from '../testing/scripted-server.js';

function useClient(...args: ConstructorParameters<typeof ScriptedClient>) {
  const scripted = new ScriptedClient(...args);
  const losses: unknown[] = [];
  scripted.client.onState(({ state, lossCause }) => {
    if (state === 'lost' || lossCause !== undefined) losses.push([state, lossCause]);
  });
  return { scripted, losses };
}

it('tells a session that a server has ended from one that the client has given up', async () => {
  const { scripted, losses } = useClient();
  await scripted.accept(1);
  scripted.network.last.close();
  // From nine tenths of the timeout on the client gives the session up.
  await scripted.pass(SESSION_TIMEOUT_MS * 0.8);
  (await scripted.nextHandshake()).refuseSession();
  await turn();
  expect(losses).toEqual([['lost', 'ended']]);
  await scripted.accept(2);
  scripted.network.last.close();
  await scripted.pass(SESSION_TIMEOUT_MS);
  expect(losses.slice(1)).toEqual([['lost', 'silence']]);
});

it('claims nothing of a session that it was to resume and has never had', async () => {
  const password = new Uint8Array(16).fill(3);
  const { scripted, losses } = useClient({ resume: { sessionId: 77n, password } });
  (await scripted.nextHandshake()).refuseSession();
  await turn();
  expect(losses).toEqual([['lost', 'expired']]);
});

it('says that a session was one of a member without a quorum', async () => {
  const { scripted, losses } = useClient({ readOnly: true, connectString: 'a,b' });
  await scripted.accept(1, { readOnly: true });
  const { network } = scripted;
  network.onDial = (link) => {
    if (link.address.ip !== 'b') return;
    link.client.write = () => {
      link.raw(Buffer.from('rw'));
      queueMicrotask(() => link.close());
    };
    link.open();
    network.onDial = null;
  };
  await scripted.pass(5_000);
  expect(losses).toEqual([['lost', 'readOnly']]);
});
