/**
 * Transactions, versions and doubt: moves an amount between two accounts, once.
 *
 *   node transactions.ts 127.0.0.1:2181
 *
 * The znode that names the transfer is created in the same transaction. If the answer is lost, the
 * error is `ambiguous`, and whether that znode exists says what became of it: so the transfer can
 * be tried again without being made twice.
 */
import { randomUUID } from 'node:crypto';
import { type Client, connect, ensurePath, TransactionError } from '@rookery/client';

const [servers = '127.0.0.1:2181'] = process.argv.slice(2);
const BASE = `/examples/accounts-${randomUUID()}`;
await using zk = await connect(servers);
await ensurePath(zk, `${BASE}/transfers`);
await zk.create(`${BASE}/ann`, '10');
await zk.create(`${BASE}/bob`, '0');

await transfer(zk, 'transfer-17', 3);
await transfer(zk, 'transfer-17', 3);
console.log('ann has', await balance('ann'), 'and bob has', await balance('bob'));

async function transfer(client: Client, name: string, amount: number): Promise<void> {
  for (;;) {
    if ((await client.exists(`${BASE}/transfers/${name}`)) !== null) return;
    const [ann, bob] = await Promise.all(['ann', 'bob'].map((who) => read(who)));
    if (ann === undefined || bob === undefined) throw new Error('there are two accounts');
    try {
      await client
        .transaction()
        .create(`${BASE}/transfers/${name}`)
        .setData(`${BASE}/ann`, String(ann.amount - amount), { version: ann.version })
        .setData(`${BASE}/bob`, String(bob.amount + amount), { version: bob.version })
        .commit();
      return;
    } catch (error) {
      // Somebody else was faster, or nobody knows: look again.
      const isDoubt = Object(error).ambiguous === true || Object(error).retryable === true;
      if (!isDoubt && !(error instanceof TransactionError)) throw error;
      await client.connected();
    }
  }
}

async function read(who: string): Promise<{ amount: number; version: number }> {
  const { data, stat } = await zk.getData(`${BASE}/${who}`);
  return { amount: Number(data), version: stat.version };
}

async function balance(who: string): Promise<number> {
  return (await read(who)).amount;
}
