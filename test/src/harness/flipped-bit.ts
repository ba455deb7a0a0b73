/**
 * Flips one bit of a file of a running member, in the middle of what was written there.
 *
 * The files of the log end with zeros that are written ahead, and begin with a long header; what is
 * between is struck.
 */
import { closeSync, openSync, readdirSync, readFileSync, statSync, writeSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Member } from './member.js';

/** A file by its path below the member's directory, or a segment of the log by its age. */
export type StruckFile = RegExp | 'the oldest segment' | 'the active segment';

export interface FlippedBit {
  readonly what: string;
  /** Flips it back. */
  undo(): void;
}

const SEGMENT = /^log\/(\d+)-(\d+)\.log$/;
/** Where the records of a segment of the log begin. */
const RECORDS_START = 8192;

/** Null if the member has no such file with anything in it. */
export function flipBit(member: Member, file: StruckFile): FlippedBit | null {
  const name = file instanceof RegExp ? newestOf(member, file) : segmentOf(member, file);
  if (name === undefined) return null;
  const path = join(member.dataDir, name);
  const from = SEGMENT.test(name) ? RECORDS_START : 0;
  const end = writtenBytes(path);
  if (end <= from) return null;
  const offset = Math.floor((from + end) / 2);
  flip(path, offset);
  const what = `bit 0 of byte ${offset} of ${end} of ${name} of member ${member.id}`;
  return { what, undo: () => flip(path, offset) };
}

/** Whether there is such a file with anything in it. */
export function hasBytes(member: Member, pattern: RegExp): boolean {
  return newestOf(member, pattern) !== undefined;
}

/** How many segments of its log have records. */
export function segmentCount(member: Member): number {
  return writtenSegments(member).length;
}

function segmentOf(member: Member, age: 'the oldest segment' | 'the active segment') {
  return writtenSegments(member).at(age === 'the oldest segment' ? 0 : -1);
}

/** In the order in which they were written, those of the newest generation. */
function writtenSegments(member: Member): readonly string[] {
  const segments = filesBelow(member.dataDir).flatMap((name) => {
    const [, generation, seq] = SEGMENT.exec(name) ?? [];
    return seq === undefined ? [] : [{ name, generation: Number(generation), seq: Number(seq) }];
  });
  const newest = Math.max(...segments.map(({ generation }) => generation));
  return segments
    .filter(({ generation }) => generation === newest)
    .sort((one, other) => one.seq - other.seq)
    .filter(({ name }) => writtenBytes(join(member.dataDir, name)) > RECORDS_START)
    .map(({ name }) => name);
}

function newestOf(member: Member, pattern: RegExp): string | undefined {
  const names = filesBelow(member.dataDir).filter((name) => pattern.test(name));
  return names
    .map((name) => ({ name, stat: statSync(join(member.dataDir, name)) }))
    .filter(({ stat }) => stat.size > 1)
    .sort((one, other) => one.stat.mtimeMs - other.stat.mtimeMs)
    .at(-1)?.name;
}

export function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)))
    .sort();
}

/** The bytes up to the last one that is not zero. */
function writtenBytes(path: string): number {
  const bytes = readFileSync(path);
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end -= 1;
  return end;
}

function flip(path: string, offset: number): void {
  const byte = readFileSync(path)[offset] ?? 0;
  const file = openSync(path, 'r+');
  try {
    writeSync(file, Buffer.of(byte ^ 1), 0, 1, offset);
  } finally {
    closeSync(file);
  }
}
