/**
 * Whether two byte strings are equal: a session's password and the one that a client shows.
 *
 * Pure. Passwords are 16 random bytes, of which nothing is learned from how long a refusal takes:
 * every refusal waits for a quorum or for the network.
 */
export function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}
