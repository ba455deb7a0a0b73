/** `rm` removes one znode, or a subtree after showing what would be removed. */
import { deleteRecursive, NoNodeError } from '@rookery/client';
import { OperatorError } from '@rookery/server';
import { type Call, EXIT } from '../../command/command.js';
import { countText, kindOf, sizeText } from '../../command/values.js';
import { walk } from '../walk.js';

export async function rm(call: Call): Promise<number> {
  const { output, signal } = call;
  const path = call.path(0);
  const version = call.number('version');
  const client = await call.client();
  if (call.flag('recursive')) {
    if (version !== undefined) {
      throw new OperatorError('A subtree has no --version: leave out --recursive.');
    }
    return await removeTree(call, path);
  }
  if (call.isDryRun) {
    if ((await client.exists(path, { signal })) === null) throw new NoNodeError(path);
    await output.talk(`Would delete ${path}.`);
    return EXIT.done;
  }
  await client.delete(path, { signal, ...(version === undefined ? {} : { version }) });
  await output.value({ deleted: 1, path }, () => '');
  await output.talk(`Deleted ${path}.`);
  return EXIT.done;
}

interface Plan {
  readonly nodes: number;
  readonly bytes: number;
  readonly ephemerals: number;
}

async function removeTree(call: Call, path: string): Promise<number> {
  const { output, signal, around } = call;
  const client = await call.client();
  if (path === '/') throw new OperatorError('The root cannot be deleted; name what is below it.');
  const plan = await planOf(call, path);
  const ephemerals = plan.ephemerals === 0 ? '' : `, ${plan.ephemerals} of them ephemeral`;
  const what = `${countText(plan.nodes, 'znode')} with ${sizeText(plan.bytes)} at ${path}${ephemerals}`;
  if (call.isDryRun) {
    await output.value({ path, ...plan }, () => '');
    await output.talk(`Would delete ${what}.`);
    return EXIT.done;
  }
  if (!call.flag('yes')) {
    if (!around.isInteractive) {
      throw new OperatorError(
        `${what} would be deleted; give --yes to confirm without a terminal.`,
      );
    }
    if (!(await around.confirm(`Delete ${what}?`))) {
      await output.talk('Nothing is deleted.');
      return EXIT.no;
    }
  }
  await deleteRecursive(client, path, { signal });
  await output.value({ deleted: plan.nodes, path }, () => '');
  await output.talk(`Deleted ${what}.`);
  return EXIT.done;
}

async function planOf(call: Call, path: string): Promise<Plan> {
  let [nodes, bytes, ephemerals] = [0, 0, 0];
  for await (const { stat } of walk({ client: await call.client(), path, signal: call.signal })) {
    nodes++;
    bytes += stat.dataLength;
    if (kindOf(stat.ephemeralOwner) === 'ephemeral') ephemerals++;
  }
  return { nodes, bytes, ephemerals };
}
