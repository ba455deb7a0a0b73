/**
 * The error of a frame that has more bytes than its length field can say.
 *
 * Nothing of the frame is left in its writer. Whoever answers from a state that has no bound
 * catches it, and gives up this one connection.
 */

export class FrameTooLargeError extends Error {
  override readonly name = 'FrameTooLargeError';
}
