/**
 * Requests of simulated clients, written directly into the bytes of a burst.
 *
 * Data are text, so a jute buffer of them is written as a string, which is the same on the wire.
 * Creates alternate between create and create2, whose reply has a Stat: `asksForStat` says which.
 * It is called once per request and allocates nothing.
 */
import {
  AclList,
  AddWatchMode,
  AUTH_XID,
  CreateFlag,
  encode,
  type JuteWriter,
  OpCode,
  SET_WATCHES_XID,
  unreachable,
  WatcherType,
} from '@rookery/protocol';
import { askedAcl, type Grant, proofOf } from '../contract/grants.js';
import type {
  CreateMode,
  MultiPart,
  Operation,
  RemovedWatches,
  SetAclOperation,
} from '../contract/history.js';
import type { WatchLists } from './held-watches.js';

const OPEN_ACL = encode(AclList, askedAcl(undefined));

const FLAGS: Readonly<Record<CreateMode, number>> = {
  persistent: CreateFlag.persistent,
  ephemeral: CreateFlag.ephemeral,
  persistentSequential: CreateFlag.persistentSequential,
  ephemeralSequential: CreateFlag.ephemeralSequential,
  ttl: CreateFlag.persistentWithTtl,
  container: CreateFlag.container,
};

const WATCHER_TYPES: Readonly<Record<RemovedWatches, WatcherType>> = {
  data: WatcherType.data,
  children: WatcherType.children,
  persistent: WatcherType.persistent,
  recursive: WatcherType.persistentRecursive,
  any: WatcherType.any,
};

/** Often enough written to again, and short enough to expire in most runs. */
export const TTL_MS = 1_000;

/** For a create by itself; those of a multi never do. */
export function asksForStat(xid: number): boolean {
  return (xid & 1) === 0;
}

/** `xid` is that of a ping for a ping. */
export function writeRequest(writer: JuteWriter, xid: number, operation: Operation): void {
  writer.beginFrame();
  writer.int(xid);
  switch (operation.kind) {
    case 'create':
    case 'set':
    case 'delete':
      writer.int(opcodeOf(operation, xid));
      writePart(writer, operation);
      break;
    case 'multi':
      writer.int(OpCode.multi);
      for (const part of operation.parts) {
        writePartHeader(writer, opcodeOf(part, 1));
        writePart(writer, part);
      }
      writeEndOfParts(writer);
      break;
    case 'setAcl':
      writeSetAcl(writer, operation);
      break;
    case 'raise':
      writer.int(OpCode.raiseSequence);
      writer.string(operation.path);
      writer.int(operation.atLeast);
      break;
    case 'get':
    case 'exists':
    case 'children':
      writer.int(READ_OPCODES[operation.kind]);
      writer.string(operation.path);
      writer.bool(operation.watch);
      break;
    case 'addWatch':
      writer.int(OpCode.addWatch);
      writer.string(operation.path);
      writer.int(
        operation.mode === 'persistent'
          ? AddWatchMode.persistent
          : AddWatchMode.persistentRecursive,
      );
      break;
    case 'removeWatches':
      writer.int(OpCode.removeWatches);
      writer.string(operation.path);
      writer.int(WATCHER_TYPES[operation.type]);
      break;
    case 'multiRead':
      writer.int(OpCode.multiRead);
      for (const { kind, path } of operation.reads) {
        writePartHeader(writer, kind === 'get' ? OpCode.getData : OpCode.getChildren);
        writer.string(path);
        writer.bool(false);
      }
      writeEndOfParts(writer);
      break;
    case 'ephemerals':
      writer.int(OpCode.getEphemerals);
      writer.string(operation.path);
      break;
    case 'sync':
      writer.int(OpCode.sync);
      writer.string(operation.path);
      break;
    case 'ping':
      writer.int(OpCode.ping);
      break;
    default:
      unreachable(operation);
  }
  writer.endFrame();
}

function writeSetAcl(writer: JuteWriter, asked: SetAclOperation): void {
  const { path, acl, grants, version } = asked;
  writer.int(OpCode.setAcl);
  writer.string(path);
  writer.raw(
    encode(AclList, [...askedAcl(grants), { perms: 31, scheme: 'digest', id: `${acl}:x` }]),
  );
  writer.int(version);
}

function writePartHeader(writer: JuteWriter, opcode: number): void {
  writer.int(opcode);
  writer.bool(false);
  writer.int(-1);
}

function writeEndOfParts(writer: JuteWriter): void {
  writer.int(-1);
  writer.bool(true);
  writer.int(-1);
}

export function writeAuth(writer: JuteWriter, user: string): void {
  writer.beginFrame();
  writer.int(AUTH_XID);
  writer.int(OpCode.auth);
  // The type.
  writer.int(0);
  writer.string('digest');
  writer.string(proofOf(user));
  writer.endFrame();
}

export function writeCloseSession(writer: JuteWriter, xid: number): void {
  writer.beginFrame();
  writer.int(xid);
  writer.int(OpCode.closeSession);
  writer.endFrame();
}

export function writeSetWatches(writer: JuteWriter, lists: WatchLists, seenZxid: number): void {
  writer.beginFrame();
  writer.int(SET_WATCHES_XID);
  writer.int(OpCode.setWatches2);
  writer.long(seenZxid);
  for (const list of [lists.data, lists.exist, lists.child, lists.persistent, lists.recursive]) {
    writer.int(list.length);
    for (const path of list) writer.string(path);
  }
  writer.endFrame();
}

const READ_OPCODES = {
  get: OpCode.getData,
  exists: OpCode.exists,
  children: OpCode.getChildren2,
} as const;

function opcodeOf(part: MultiPart, xid: number): number {
  switch (part.kind) {
    case 'create':
      if (part.mode === 'ttl') return OpCode.createTtl;
      if (part.mode === 'container') return OpCode.createContainer;
      return asksForStat(xid) ? OpCode.create2 : OpCode.create;
    case 'set':
      return OpCode.setData;
    case 'delete':
      return OpCode.delete;
    case 'check':
      return OpCode.check;
    default:
      return unreachable(part);
  }
}

function aclBytes(grants: readonly Grant[] | undefined): Uint8Array {
  return grants === undefined ? OPEN_ACL : encode(AclList, askedAcl(grants));
}

function writePart(writer: JuteWriter, part: MultiPart): void {
  writer.string(part.path);
  switch (part.kind) {
    case 'create':
      writer.string(part.data);
      writer.raw(aclBytes(part.grants));
      writer.int(FLAGS[part.mode]);
      if (part.mode === 'ttl') writer.long(TTL_MS);
      break;
    case 'set':
      writer.string(part.data);
      writer.int(part.version);
      break;
    case 'delete':
    case 'check':
      writer.int(part.version);
      break;
    default:
      unreachable(part);
  }
}
