/** The part of the package that is used; it has no types of its own. */
declare module 'snappyjs' {
  /** Throws for damaged bytes, and for a result of more than `bytesMax`. */
  export function uncompress(compressed: Uint8Array, bytesMax?: number): Uint8Array;
  export function compress(bytes: Uint8Array): Uint8Array;
}
