/**
 * Every divergence from ZooKeeper 3.8.0, by its name in docs/compatibility.md.
 *
 * The model speaks some of them in either dialect (dialect.ts), so the differential test verifies
 * those on both products; for the others a test of our own shows what Rookery does.
 * divergences.test.ts compares the names with docs/compatibility.md, in both directions. This file
 * contains only data.
 */
import { DIVERGENCES } from './dialect.js';

/** The name, and the test that shows Rookery's behaviour. */
export const SHOWN_ELSEWHERE: Readonly<Record<string, string>> = {
  'session ids': 'server/src/pipeline/sessions.test.ts',
  'session passwords': 'server/src/pipeline/sessions.test.ts',
  resume: 'server/src/pipeline/sessions.test.ts',
  expiry: 'server/src/pipeline/session-end.test.ts',
  'sessions without a connection': 'server/src/pipeline/left-sessions.test.ts',
  'role change': 'server/src/pipeline/session-end.test.ts',
  founding: 'test/src/answers/members/wiped.test.ts',
  'top-level `check`, deleteContainer, createSession from a client':
    'server/src/pipeline/requests.test.ts',
  'auth answers': 'server/src/pipeline/auth.test.ts',
  '`ip` scheme': 'server/src/pipeline/address-range.test.ts',
  'a null ACL id': 'server/src/pipeline/acl-form.test.ts',
  'identities, ACL lists': 'server/src/pipeline/identities.test.ts',
  'getACL masking': 'server/src/pipeline/acl-enforcement.test.ts',
  '`/zookeeper/config`': 'server/src/pipeline/acl-enforcement.test.ts',
  quotas: 'server/src/pipeline/quota-guard.test.ts',
  'multiRead of a write, or that is malformed otherwise':
    'server/src/pipeline/special-reads.test.ts',
  sasl: 'server/src/pipeline/special-reads.test.ts',
  reconfig: 'server/src/pipeline/quota-guard.test.ts',
  'local sessions': 'server/src/pipeline/local-sessions.test.ts',
  'read-only mode': 'test/src/answers/requests/read-only.test.ts',
  'multiRead past 8 MB, or 32,768 names of children, entries of long ACLs and identities':
    'server/src/pipeline/request-bounds.test.ts',
  'multi, multiRead': 'server/src/pipeline/request-bounds.test.ts',
  TTL: 'server/src/simulated/wrong-clocks.test.ts',
  create: 'server/src/pipeline/request-bounds.test.ts',
  'watches on a path of more than 65,536 bytes': 'server/src/pipeline/request-bounds.test.ts',
  'mtime, ctime': 'server/src/simulated/wrong-clocks.test.ts',
  'writes of a connection that its session has left': 'server/src/pipeline/attachments.test.ts',
  'the end of a session with more than 256 ephemerals': 'server/src/pipeline/session-ends.test.ts',
  'ephemerals of one session': 'server/src/pipeline/many-ephemerals.test.ts',
  'getEphemerals of more than 32,768 ephemerals, or 4 MB of paths':
    'server/src/pipeline/many-ephemerals.test.ts',
  'more than 131,072 watch events at once': 'server/src/pipeline/event-budget.test.ts',
  'getChildren of more than 32 MB of names': 'server/src/pipeline/list-bound.test.ts',
  'a frame of more than 512 bytes before the session': 'server/src/net/client-budgets.test.ts',
  'unread answers and incomplete requests': 'server/src/net/client-budgets.test.ts',
  'a disk with less free than `diskReserveBytes`': 'server/src/simulated/disk-space.test.ts',
  '`srvr` and `stat` of a member whose disk is full': 'server/src/net/four-letter/reply.test.ts',
  'a start without room on the disk': 'server/src/driver/start-room.test.ts',
  'a tree beyond `treeBytesMax`': 'server/src/pipeline/tree-room.test.ts',
  'a multi that `auth` entries enlarge beyond its request': 'server/src/pipeline/admission.test.ts',
  '`dump`': 'server/src/net/four-letter/reply.test.ts',
  '`srvr` and `stat` of a member that does not serve': 'server/src/net/four-letter/reply.test.ts',
  '`/commands/set_trace_mask`': 'server/src/http/commands.test.ts',
  '`envi`': 'server/src/net/four-letter/reply.test.ts',
  defaults: 'server/src/config/config.test.ts',
  'data versions': 'server/src/state/txn.test.ts',
  'sequence numbers past 2147483647': 'server/src/state/txn.test.ts',
  'null and negative lengths': 'server/src/pipeline/odd-requests.test.ts',
  'flags out of range in a multi': 'server/src/pipeline/odd-requests.test.ts',
  'create2 in a multi': 'server/src/pipeline/odd-requests.test.ts',
  pings: 'server/src/pipeline/odd-requests.test.ts',
  'text that is not UTF-8': 'server/src/pipeline/odd-requests.test.ts',
  'opcode 10001': 'server/src/pipeline/special-reads.test.ts',
  'opcode 10002': 'server/src/pipeline/raise-sequence.test.ts',
  disk: 'server/src/storage/storage.test.ts',
};

export function divergenceNames(): readonly string[] {
  const modelled = Object.values(DIVERGENCES).map(({ name }) => name);
  return [...modelled, ...Object.keys(SHOWN_ELSEWHERE)];
}
