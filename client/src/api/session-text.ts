/** How messages and logs name a session. */

/** Hexadecimal, as servers and their audit log print it: ids can be negative in JavaScript. */
export function sessionText(id: bigint): string {
  return `0x${BigInt.asUintN(64, id).toString(16)}`;
}
