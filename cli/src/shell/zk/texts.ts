/** Writes a Stat, an ACL, a time, an event and an error as ZooKeeper's shell 3.8.0 does. */
import {
  type Acl,
  BadArgumentsError,
  BadVersionError,
  InvalidAclError,
  KeeperError,
  NoAuthError,
  NoChildrenForEphemeralsError,
  NodeExistsError,
  NoNodeError,
  NotEmptyError,
  NotReadOnlyError,
  type Stat,
} from '@rookery/client';
import { errorMessage, errorName, permsText } from '@rookery/protocol';
import { hex } from '../../command/values.js';

export function zkStat(stat: Stat): string {
  return [
    `cZxid = ${hex(stat.czxid)}`,
    `ctime = ${javaDate(stat.ctime)}`,
    `mZxid = ${hex(stat.mzxid)}`,
    `mtime = ${javaDate(stat.mtime)}`,
    `pZxid = ${hex(stat.pzxid)}`,
    `cversion = ${stat.cversion}`,
    `dataVersion = ${stat.version}`,
    `aclVersion = ${stat.aversion}`,
    `ephemeralOwner = ${hex(stat.ephemeralOwner)}`,
    `dataLength = ${stat.dataLength}`,
    `numChildren = ${stat.numChildren}`,
  ].join('\n');
}

/** As Java's Date.toString(): `Wed Nov 25 23:59:01 UTC 2026`, in the local time zone. */
function javaDate(ms: number): string {
  const date = new Date(ms);
  const [day = '', month = '', number = '', year = '', time = ''] = date.toString().split(' ');
  const zone = new Intl.DateTimeFormat('en-US', { timeZoneName: 'short' })
    .formatToParts(date)
    .find(({ type }) => type === 'timeZoneName')?.value;
  return `${day} ${month} ${number} ${time} ${zone ?? 'UTC'} ${year}`;
}

export function zkAcl(acl: readonly Acl[]): string {
  return acl.map(({ scheme, id, perms }) => `'${scheme},'${id}\n: ${permsText(perms)}`).join('\n');
}

export function zkEvent(state: string, type: string, path: string | null): string {
  return `\nWATCHER::\n\nWatchedEvent state:${state} type:${type} path:${path}`;
}

/** The sentence for an error of a server; that of any other error is its message. */
export function zkErrorText(error: unknown): string {
  if (!(error instanceof KeeperError)) return errorMessage(error);
  const path = error.path ?? 'null';
  if (error instanceof NoNodeError) return `Node does not exist: ${path}`;
  if (error instanceof NoChildrenForEphemeralsError) {
    return `Ephemerals cannot have children: ${path}`;
  }
  if (error instanceof NodeExistsError) return `Node already exists: ${path}`;
  if (error instanceof NotEmptyError) return `Node not empty: ${path}`;
  if (error instanceof NotReadOnlyError) return `Not a read-only call: ${path}`;
  if (error instanceof InvalidAclError) return `Acl is not valid : ${path}`;
  if (error instanceof NoAuthError) return `Insufficient permission : ${path}`;
  if (error instanceof BadArgumentsError) return `Arguments are not valid : ${path}`;
  if (error instanceof BadVersionError) return `version No is not valid : ${path}`;
  return javaErrorText(error);
}

/** Names that Java's client writes in another way than the tables of the protocol. */
const JAVA_NAMES: Readonly<Record<string, string>> = {
  NoWatcher: 'No such watcher',
  InvalidAcl: 'InvalidACL',
  ReconfigDisabled: 'Reconfig is disabled',
  SessionExpired: 'Session expired',
  SessionMoved: 'Session moved',
  QuotaExceeded: 'Quota has exceeded',
};

export function javaErrorText(error: KeeperError): string {
  const known = errorName(error.code) ?? String(error.code);
  const name = known.charAt(0).toUpperCase() + known.slice(1);
  const code = `KeeperErrorCode = ${JAVA_NAMES[name] ?? name}`;
  return error.path === undefined ? code : `${code} for ${error.path}`;
}
