/**
 * Formats a transaction of ZooKeeper's log as one line of text, field for field as ZooKeeper's own
 * TxnLogToolkit prints it, so that whatever reads that program's output reads this. Times are UTC,
 * in the form that Java uses for the United States.
 *
 * Throws FileError for a record that ends too early. Called by `rookery inspect log`.
 */

import { ByteCursor } from './byte-cursor.js';
import { TYPE } from './log-record.js';
import { type AclEntry, readAclList } from './snapshot-node.js';

const NAMES = new Map<number, string>([
  [TYPE.error, 'error'],
  [TYPE.createSession, 'createSession'],
  [TYPE.closeSession, 'closeSession'],
  [TYPE.create, 'create'],
  [TYPE.delete, 'delete'],
  [TYPE.setData, 'setData'],
  [TYPE.setAcl, 'setACL'],
  [TYPE.check, 'check'],
  [TYPE.multi, 'multi'],
  [TYPE.create2, 'create2'],
  [TYPE.reconfig, 'reconfig'],
  [TYPE.createContainer, 'createContainer'],
  [TYPE.deleteContainer, 'deleteContainer'],
  [TYPE.createTtl, 'createTtl'],
]);
const TIME = new Intl.DateTimeFormat('en-US', {
  timeZone: 'UTC',
  timeZoneName: 'short',
  dateStyle: undefined,
  hour12: true,
  year: '2-digit',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
  second: '2-digit',
});

/** The first line, of a file with that header. */
export function headText({ dbid }: { readonly dbid: bigint }): string {
  return `ZooKeeper Transactional Log File with dbid ${dbid} txnlog format version 2\n`;
}

/** The last line, after so many transactions. */
export function endText(transactions: number): string {
  return `EOF reached after ${transactions} txns.\n`;
}

export function logRecordText(bytes: Buffer): string {
  const cursor = new ByteCursor(bytes);
  const what = 'a transaction';
  const session = BigInt.asUintN(64, cursor.long(what));
  const cxid = cursor.int(what) >>> 0;
  const zxid = BigInt.asUintN(64, cursor.long(what));
  const time = TIME.format(new Date(Number(cursor.long(what)))).replaceAll('\u202f', ' ');
  const type = cursor.int(what);
  const head = `${time} session 0x${hex(session)} cxid 0x${cxid.toString(16)} zxid 0x${hex(zxid)}`;
  return `${head} ${NAMES.get(type) ?? `unknown ${type}`} ${bodyText(type, cursor)}\n`;
}

function bodyText(type: number, cursor: ByteCursor): string {
  switch (type) {
    case TYPE.error:
    case TYPE.createSession:
      return `${cursor.int('a transaction')}`;
    case TYPE.closeSession:
      return closedText(cursor);
    case TYPE.create:
    case TYPE.create2:
    case TYPE.createContainer:
    case TYPE.createTtl:
      return createText(type, cursor);
    case TYPE.delete:
    case TYPE.deleteContainer:
      return `'${cursor.text('a path')}`;
    case TYPE.setData:
      return fields(cursor.text('a path'), dataText(cursor), cursor.int('a version'));
    case TYPE.setAcl: {
      const path = cursor.text('a path');
      const entries = readAclList(cursor).map((entry) => `s{${entry.perms},${idText(entry)}}`);
      return fields(`'${path}`, `v{${entries.join(',')}}`, cursor.int('a version'));
    }
    case TYPE.multi:
      return multiText(cursor);
    default:
      return '';
  }
}

function createText(type: number, cursor: ByteCursor): string {
  const path = cursor.text('a path');
  const data = dataText(cursor);
  const acl = readAclList(cursor).map((entry) => `${entry.perms},${idText(entry)}\n`);
  const isPlain = type === TYPE.create || type === TYPE.create2;
  const ephemeral = isPlain ? [cursor.byte('a create') !== 0] : [];
  const version = cursor.left >= 4 ? cursor.int('a version') : -1;
  const ttl = type === TYPE.createTtl ? [cursor.long('a time to live')] : [];
  return fields(path, data, `[${acl.join(', ')}]`, ...ephemeral, version, ...ttl);
}

/** Each operation by its name and its bytes as text, whatever they mean. */
function multiText(cursor: ByteCursor): string {
  const operations: string[] = [];
  for (let left = cursor.count('the operations of a multi', 8); left > 0; left--) {
    const type = cursor.int('an operation of a multi');
    const body = cursor.buffer('an operation of a multi')?.toString() ?? '';
    operations.push(`${NAMES.get(type) ?? type}:${body}`);
  }
  return operations.join(';');
}

function closedText(cursor: ByteCursor): string {
  if (cursor.left < 4) return 'v{}';
  const paths: string[] = [];
  for (let left = cursor.count('the paths of a session', 4); left > 0; left--) {
    paths.push(`'${cursor.text('a path')}`);
  }
  return `v{${paths.join(',')}}`;
}

function idText({ scheme, id }: AclEntry): string {
  return `s{'${scheme},'${id}}`;
}

function dataText(cursor: ByteCursor): string {
  return cursor.buffer('data')?.toString() ?? '';
}

function fields(...values: readonly (string | number | bigint | boolean)[]): string {
  return values.join(',');
}

function hex(value: bigint): string {
  return value.toString(16);
}
