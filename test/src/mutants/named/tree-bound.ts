/**
 * Bugs of the tree's bound: members are ended by a load that should have been refused, or refuse
 * what still fits.
 */
import type { NamedMutant } from './named-mutant.js';

const ROOM = 'server/src/pipeline/tree-room.test.ts';
const BYTES = 'server/src/state/tree-bytes.test.ts';
const COMPACTION = 'server/src/state/memory/data-slabs.test.ts';
const LEAVES_ALL = 'changes no name and no data, whatever is created and deleted meanwhile';
const BOUNDS_HELD =
  'bounds the memory that a client can fill by creating, deleting most and changing the size';
const ENSEMBLE = 'server/src/simulated/tree-bound.test.ts';
const IS_COUNT = 'equals a count of everything that exists, after any transactions and recoveries';
const TO_THE_BYTE = 'never passes the bound, and what is in flight is counted to the byte';

export const treeBoundMutants: readonly NamedMutant[] = [
  {
    name: 'tree-bound-without-what-is-in-flight',
    area: 'named',
    in: 'TreeRoom.bytes',
    find: 'return this.#state.bytes + this.#inFlightBytes;',
    replace: 'return this.#state.bytes;',
    breaks: 'what is proposed and not applied counts for the bound of the tree',
    scenario: { file: ROOM, name: 'counts what is in flight, not only what is applied' },
  },
  {
    name: 'tree-bound-keeps-what-failed',
    area: 'named',
    in: 'TxnPreparer.prepare',
    find: "if (op.kind !== 'error') this.room.commit(zxid);",
    replace: 'this.room.commit(zxid);',
    breaks: 'a multi that failed takes no space',
    scenario: { file: ROOM, name: TO_THE_BYTE },
  },
  {
    name: 'tree-bytes-drift-on-overwrite',
    area: 'named',
    in: 'Tree.#payloadGrew',
    find: 'this.#znodesBytes += after - payloadBytes(nameBytes, dataBytesBefore);',
    replace: 'this.#znodesBytes += after - payloadBytes(nameBytes, 0) - dataBytesBefore;',
    breaks: 'the estimate of the tree follows data that grows or shrinks',
    scenario: { file: BYTES, name: IS_COUNT },
  },
  {
    name: 'tree-bytes-forgotten-by-recovery',
    area: 'named',
    in: 'TreeLoader.#loadRecord',
    find: 'this.#znodesBytes += znodeBytes(reader.end - reader.start, Math.max(0, reader.dataBytes));',
    replace: 'this.#znodesBytes += znodeBytes(0, Math.max(0, reader.dataBytes));',
    breaks: 'a member that was restarted has the same count as the others',
    scenario: { file: BYTES, name: IS_COUNT },
  },
  {
    name: 'compaction-leaves-the-location',
    area: 'named',
    in: 'PayloadCompaction.#moveMaybe',
    find: 'this.#store.setInt(node, INT.location, moved);',
    replace: 'this.#store.setInt(node, INT.location, location);',
    breaks: 'name and data of a znode are where its row says, wherever compaction moves them',
    scenario: { file: COMPACTION, name: LEAVES_ALL },
  },
  {
    name: 'sparse-chunks-are-filled-again',
    area: 'named',
    in: 'DataSlabs.leaveSparseChunks',
    find: `if (hasRoom(chunk)) this.#unlink(chunk);
      chunk.isLeaving = true;`,
    replace: 'chunk.isLeaving = false;',
    breaks: 'memory that a client left mostly unused is given back',
    scenario: { file: COMPACTION, name: BOUNDS_HELD },
  },
  {
    name: 'tree-bound-of-the-leader-alone',
    area: 'named',
    in: 'TreeBound.onConnected',
    find: 'this.#bytesMax = configuredBytes ?? Math.min(ownBytes, ...this.#others.values());',
    replace: 'this.#bytesMax = configuredBytes ?? ownBytes;',
    breaks: 'the member with the least memory bounds the tree, whoever leads',
    scenario: {
      file: ENSEMBLE,
      name: 'the tree stays within what the member with the least memory may use, whoever leads',
    },
  },
];
