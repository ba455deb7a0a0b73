/** `acl get` and `acl set` show and change permissions. */
import { OperatorError } from '@rookery/server';
import type { Call } from '../command.js';
import { aclJson, aclText, countText } from '../values.js';
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
  let changed = 0;
  for await (const node of walk({ client, path, signal, ...depth })) {
    changed++;
    const versioned = version === undefined ? {} : { version };
    if (!call.isDryRun) await client.setAcl(node.path, acl, { signal, ...versioned });
  }
  await output.value({ path, changed }, () => '');
  const verb = call.isDryRun ? 'Would change' : 'Changed';
  await output.talk(`${verb} the ACL of ${countText(changed, 'znode')}.`);
}
