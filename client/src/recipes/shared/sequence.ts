/**
 * The names of sequential znodes: which of a directory's children stand in a line, and in what
 * order. Knows the names of other implementations, so that their contenders are seen as well.
 *
 * A name is whatever its creator liked, then a marker such as `lock-`, then the number that the
 * server appended. Names without a marker that was asked for are not in the line. Pure.
 */
import { assert } from '@rookery/protocol';

/** One who stands in a line. */
export interface Place<Marker extends string = string> {
  readonly name: string;
  readonly marker: Marker;
  readonly sequence: number;
}

/** Java's `%010d` of an int: ten characters with the sign, eleven from -1,000,000,000 down. */
const NUMBER = /^(?:\d{10}|-\d{9}|-\d{10})$/;

/** The number after the last occurrence of the marker, or null when the name is no such one. */
export function sequenceOf(name: string, marker: string): number | null {
  const at = name.lastIndexOf(marker);
  if (at < 0) return null;
  const digits = name.slice(at + marker.length);
  if (!NUMBER.test(digits)) return null;
  const sequence = Number(digits);
  return sequence === (sequence | 0) ? sequence : null;
}

/**
 * Which of two numbers of one directory was given first, as a sort function has it. The server's
 * counter is an int32 that wraps to the negative, so it is the sign of the wrapped difference that
 * counts: right while fewer than 2^31 creations lie between the two, however often it has wrapped.
 */
export function compareSequences(left: number, right: number): number {
  return (left - right) | 0;
}

/**
 * Who stands in line, first come first. Two markers may carry the same number (a read lock that was
 * made from a write lock); the order of `markers` then decides.
 */
export function inLine<Marker extends string>(
  names: readonly string[],
  markers: readonly Marker[],
): Place<Marker>[] {
  const places: Place<Marker>[] = [];
  for (const name of names) {
    const place = placeOf(name, markers);
    if (place !== null) places.push(place);
  }
  return places.sort(
    (left, right) =>
      compareSequences(left.sequence, right.sequence) ||
      markers.indexOf(left.marker) - markers.indexOf(right.marker) ||
      (left.name < right.name ? -1 : 1),
  );
}

/** The place that a name tells, by the first of the markers that it has; null when by none. */
export function placeOf<Marker extends string>(
  name: string,
  markers: readonly Marker[],
): Place<Marker> | null {
  for (const marker of markers) {
    const sequence = sequenceOf(name, marker);
    if (sequence !== null) return { name, marker, sequence };
  }
  return null;
}

/** How the server writes a number: for names that take over the number of another. */
export function formatSequence(sequence: number): string {
  assert(sequence === (sequence | 0), `a sequence number ${sequence} is an int32`);
  return sequence < 0
    ? `-${String(-sequence).padStart(9, '0')}`
    : String(sequence).padStart(10, '0');
}
