/**
 * The znodes that a request names, for measures only. A single path is read from the frame without
 * decoding what follows it; multis are decoded. A malformed request names nothing here, and is
 * judged elsewhere.
 */
import {
  type JuteReader,
  MarshallingError,
  OpCode,
  readMultiOps,
  readMultiReadOps,
} from '@rookery/protocol';

/** Whether a request reads or changes the znode that it names. */
export type PathUse = 'read' | 'write';

/** Longer paths are cut, in bytes; those with the same beginning count as one. */
const PATH_BYTES_MAX = 256;
/** The operations of one multi that are looked at. */
const OPS_MAX = 64;

const USES: ReadonlyMap<number, PathUse> = new Map([
  [OpCode.exists, 'read'],
  [OpCode.getData, 'read'],
  [OpCode.getAcl, 'read'],
  [OpCode.getChildren, 'read'],
  [OpCode.getChildren2, 'read'],
  [OpCode.getAllChildrenNumber, 'read'],
  [OpCode.getChildrenPage, 'read'],
  [OpCode.addWatch, 'read'],
  [OpCode.check, 'read'],
  [OpCode.create, 'write'],
  [OpCode.create2, 'write'],
  [OpCode.createContainer, 'write'],
  [OpCode.createTtl, 'write'],
  [OpCode.delete, 'write'],
  [OpCode.setData, 'write'],
  [OpCode.setAcl, 'write'],
  [OpCode.raiseSequence, 'write'],
]);

/**
 * Tells `onPath` the paths of a request whose body is the rest of `reader`, and returns their
 * number. Leaves the reader at any place; never throws.
 */
export function tellPaths(
  opcode: number,
  reader: JuteReader,
  onPath: (path: string, use: PathUse) => void,
): number {
  try {
    switch (opcode) {
      case OpCode.multi:
        return tellEach(readMultiOps(reader, OPS_MAX), onPath);
      case OpCode.multiRead:
        return tellEach(readMultiReadOps(reader, OPS_MAX), onPath);
      default: {
        const use = USES.get(opcode);
        if (use === undefined) return 0;
        onPath(firstPath(reader), use);
        return 1;
      }
    }
  } catch (error) {
    if (!(error instanceof MarshallingError)) throw error;
    return 0;
  }
}

function tellEach(
  ops: readonly { readonly opcode: number; readonly request: { readonly path: string } }[],
  onPath: (path: string, use: PathUse) => void,
): number {
  for (const { opcode, request } of ops) {
    const bytes = Buffer.from(request.path);
    onPath(pathIn(bytes, 0, bytes.length), USES.get(opcode) ?? 'read');
  }
  return ops.length;
}

/** Every request for one znode begins with its path. */
function firstPath(reader: JuteReader): string {
  const length = reader.skipBuffer();
  return pathIn(reader.bytes, reader.position - Math.max(0, length), reader.position);
}

function pathIn(bytes: Buffer, start: number, end: number): string {
  if (end - start <= PATH_BYTES_MAX) return bytes.toString('utf8', start, end);
  let cut = start + PATH_BYTES_MAX;
  // Not within a character.
  while (((bytes[cut] ?? 0) & 0xc0) === 0x80 && cut > start) cut -= 1;
  return `${bytes.toString('utf8', start, cut)}…`;
}
