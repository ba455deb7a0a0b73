/** `acl get` and `acl set` show and change permissions. */
import { OperatorError } from '@rookery/server';
import type { Call } from '../../command/command.js';
import { aclJson, aclText, countText } from '../../command/values.js';
import { isWithin } from '../../znodes/paths.js';
import { walk } from '../walk.js';
import { aclOf } from './writing.js';

export async function getAcl(call: Call): Promise<undefined> {
  const { output, signal } = call;
  const path = call.path(0);
  const { acl, stat } = await (await call.client()).getAcl(path, { signal });
  const json = { path, acl: aclJson(acl), aversion: stat.aversion };
  await output.value(
    json,
    () => acl.map(aclText).join('\n'),
    () => acl.map(aclText).join(','),
  );
}

export async function setAcl(call: Call): Promise<undefined> {
  const { output, signal } = call;
  const path = call.path(0);
  const acl = aclOf(call.arg(1)) ?? [];
  const version = call.number('version');
  const isRecursive = call.flag('recursive');
  if (isRecursive && version !== undefined) {
    throw new OperatorError('A subtree has no --version: leave out --recursive.');
  }
  const client = await call.client();
  const depth = isRecursive ? {} : { depthMax: 0 };
  const versioned = version === undefined ? {} : { version };
  let changed = 0;
  // From the bottom up: the ACL may forbid its user to read what is below.
  const above: string[] = [];
  const setUpTo = async (next: string | null) => {
    for (let last = above.at(-1); last !== undefined; last = above.at(-1)) {
      if (next !== null && isWithin(next, last)) return;
      if (!call.isDryRun) await client.setAcl(last, acl, { signal, ...versioned });
      above.pop();
      changed++;
    }
  };
  for await (const node of walk({ client, path, signal, ...depth })) {
    if (isRecursive && node.isClosed) {
      throw new Error(`The ACL of ${node.path} forbids to read what is below it.`);
    }
    await setUpTo(node.path);
    above.push(node.path);
  }
  await setUpTo(null);
  await output.value({ path, changed }, () => '');
  const verb = call.isDryRun ? 'Would change' : 'Changed';
  await output.talk(`${verb} the ACL of ${countText(changed, 'znode')}.`);
}
