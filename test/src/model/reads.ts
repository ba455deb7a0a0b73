/**
 * The model's reads, including watches by request: each returns the body of its reply or refuses.
 */
import { AddWatchMode, ErrorCode, OpCode, Perms } from '@rookery/protocol';
import { allows, type Identity, shownAcl, shownIdentity } from './access.js';
import type { Dialect } from './dialect.js';
import type { MultiReadOp, Operation, PageOp, WatchesOp, WatchingReadOp } from './operations.js';
import { Anything } from './symbols.js';
import { type ModelTree, Refusal, SHARED, type Znode } from './tree.js';
import type { Watches } from './watches.js';

/** The part of the model that reads use. */
export interface Scene {
  readonly dialect: Dialect;
  readonly tree: ModelTree;
  readonly watches: Watches;
  place(path: string): string;
}

export interface Reader {
  readonly number: number;
  readonly connection: number;
  readonly ids: readonly Identity[];
}

export function runRead(model: Scene, session: Reader, operation: Operation): unknown {
  if (isSharedRead(model, operation)) return new Anything();
  switch (operation.op) {
    case 'exists':
      return exists(model, session, operation);
    case 'getData':
    case 'getChildren':
    case 'getChildren2':
      return readNode(model, session, operation);
    case 'getAcl': {
      const node = readable(model, session, operation.path, Perms.read | Perms.admin);
      return { acl: shownAcl(node.acl, session.ids), stat: model.tree.statOf(node) };
    }
    case 'getAllChildrenNumber': {
      readable(model, session, operation.path, Perms.read);
      return { totalNumber: model.tree.descendantsOf(model.place(operation.path)).length };
    }
    case 'getEphemerals': {
      const prefix = model.place(operation.path);
      const own = model.tree.ephemeralsOf(session.number);
      const all = prefix === '' || prefix === '/';
      return { ephemerals: all ? own : own.filter((path) => path.startsWith(prefix)) };
    }
    case 'getChildrenPage':
      return readPage(model, session, operation);
    case 'multiRead':
      return { results: operation.reads.map((read) => readOne(model, session, read)) };
    case 'sync':
      return { path: model.place(operation.path) };
    case 'whoAmI':
      return { clientInfo: session.ids.map(shownIdentity) };
    case 'addWatch': {
      const { mode } = operation;
      if (mode !== AddWatchMode.persistent && mode !== AddWatchMode.persistentRecursive) {
        throw new Refusal(ErrorCode.marshallingError);
      }
      const lasting = mode === AddWatchMode.persistent ? 'persistent' : 'recursive';
      model.watches.addLasting(lasting, model.place(operation.path), session.connection);
      return { error: 0 };
    }
    case 'checkWatches':
    case 'removeWatches':
      return findWatches(model, session, operation);
    default:
      throw new Error(`${operation.op} is not a read`);
  }
}

/** A node that exists from the start, whose Stat and children all sequences change. */
function isSharedRead(model: Scene, operation: Operation): boolean {
  switch (operation.op) {
    case 'exists':
    case 'getData':
    case 'getChildren':
    case 'getChildren2':
    case 'getAcl':
    case 'getAllChildrenNumber':
    case 'getChildrenPage':
      return isShared(model, operation.path);
    default:
      return false;
  }
}

function isShared(model: Scene, operationPath: string): boolean {
  const path = model.place(operationPath);
  return SHARED.includes(path) || (path === '' && !model.dialect.emptyPathIsNothing);
}

/** The watch is set even if the node does not exist yet. */
function exists(model: Scene, session: Reader, operation: WatchingReadOp): unknown {
  const path = model.place(operation.path);
  if (path.includes('\0')) throw new Refusal(ErrorCode.badArguments);
  const node = model.tree.find(path);
  const mayNot = node !== undefined && !allows(node.acl, session.ids, Perms.read);
  if (mayNot && model.dialect.existsNeedsRead) throw new Refusal(ErrorCode.noAuth);
  if (operation.watch) model.watches.addOnce('data', path, session.connection);
  if (node === undefined) throw new Refusal(ErrorCode.noNode);
  return { stat: model.tree.statOf(node) };
}

function readNode(model: Scene, session: Reader, operation: WatchingReadOp): unknown {
  const { op, watch } = operation;
  const node = readable(model, session, operation.path, Perms.read);
  const path = model.place(operation.path);
  const stat = model.tree.statOf(node);
  if (watch) {
    const kind = op === 'getData' ? 'data' : 'child';
    model.watches.addOnce(kind, path, session.connection);
  }
  if (op === 'getData') return { data: node.data, stat };
  const children = model.tree.childrenOf(path);
  return op === 'getChildren' ? { children } : { children, stat };
}

function readPage(model: Scene, session: Reader, operation: PageOp): unknown {
  if (operation.limit < 1) throw new Refusal(ErrorCode.badArguments);
  const node = readable(model, session, operation.path, Perms.read);
  const path = model.place(operation.path);
  if (operation.watch) model.watches.addOnce('child', path, session.connection);
  const above = model.tree
    .childrenOf(path)
    .filter((name) => name > operation.startAfter)
    .sort();
  const children = above.slice(0, operation.limit);
  return { children, stat: model.tree.statOf(node), more: children.length < above.length };
}

function readOne(model: Scene, session: Reader, read: MultiReadOp['reads'][number]) {
  if (isShared(model, read.path)) return new Anything();
  try {
    const node = readable(model, session, read.path, Perms.read);
    if (read.op === 'getChildren') {
      return {
        opcode: OpCode.getChildren,
        children: model.tree.childrenOf(model.place(read.path)),
      };
    }
    return { opcode: OpCode.getData, data: node.data, stat: model.tree.statOf(node) };
  } catch (error) {
    if (error instanceof Refusal) return { opcode: OpCode.error, error: error.code };
    throw error;
  }
}

function findWatches(model: Scene, session: Reader, operation: WatchesOp): undefined {
  const { type } = operation;
  const typeMax = model.dialect.watchesRemovedByMode ? 5 : 3;
  if (type < 1 || type > typeMax) throw new Refusal(ErrorCode.marshallingError);
  const { connection } = session;
  const path = model.place(operation.path);
  const remove = operation.op === 'removeWatches';
  const isFound =
    remove || model.dialect.checksOwnWatches
      ? model.watches.find({ path, type, connection, remove })
      : model.watches.findAnybodys({ path, type, connection });
  if (!isFound) {
    throw new Refusal(ErrorCode.noWatcher);
  }
  return undefined;
}

function readable(model: Scene, session: Reader, path: string, perms: number): Znode {
  const node = model.tree.find(model.place(path));
  if (node === undefined) throw new Refusal(ErrorCode.noNode);
  if (!allows(node.acl, session.ids, perms)) throw new Refusal(ErrorCode.noAuth);
  return node;
}
