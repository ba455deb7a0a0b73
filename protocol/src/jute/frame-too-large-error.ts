/**
 * Thrown for a frame with more bytes than its length field can express.
 *
 * The writer has dropped the frame. Code whose answers have no other bound catches this and closes
 * the one connection.
 */

export class FrameTooLargeError extends Error {
  override readonly name = 'FrameTooLargeError';
}
