/**
 * The names of sequential znodes: which children of a directory form a line, and in what order. It
 * knows the names of other implementations, so that their contenders are recognized.
 *
 * A name is anything that its creator chose, then a marker such as `lock-`, then the number that
 * the server appended. Names without one of the given markers are not in the line. Pure.
 */
import { assert } from '@rookery/protocol';

/** A member of a line. */
export interface Place<Marker extends string = string> {
  readonly name: string;
  readonly marker: Marker;
  readonly sequence: number;
}

/** Java's `%010d` of an int: ten characters including the sign, eleven from -1,000,000,000 down. */
const NUMBER = /^(?:\d{10}|-\d{9}|-\d{10})$/;

/**
 * The number after the last occurrence of the marker, or null if the name does not have this form.
 */
export function sequenceOf(name: string, marker: string): number | null {
  const at = name.lastIndexOf(marker);
  if (at < 0) return null;
  const digits = name.slice(at + marker.length);
  if (!NUMBER.test(digits)) return null;
  const sequence = Number(digits);
  return sequence === (sequence | 0) ? sequence : null;
}

/**
 * Compares two numbers of one directory by their age, for use in a sort. The server's counter is an
 * int32 that wraps to the negative, so the sign of the wrapped difference decides. That is correct
 * as long as fewer than 2^31 creates lie between the two, however often the counter has wrapped.
 */
export function compareSequences(left: number, right: number): number {
  return (left - right) | 0;
}

/**
 * The members of a line in their order. Two markers may have the same number (a read lock that was
 * created from a write lock); then the order of `markers` decides.
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

/**
 * The place in line that a name describes, by the first of the markers that it contains; null if it
 * contains none.
 */
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

/** Formats a number as the server does, for names that reuse the number of another. */
export function formatSequence(sequence: number): string {
  assert(sequence === (sequence | 0), `a sequence number ${sequence} is an int32`);
  return sequence < 0
    ? `-${String(-sequence).padStart(9, '0')}`
    : String(sequence).padStart(10, '0');
}
