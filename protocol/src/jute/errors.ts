/**
 * The errors of encoding and decoding.
 */

/**
 * Bytes that are not what they should be: a short record, an unreasonable length, an unknown kind
 * of message. Code that reads from outside catches it and answers or closes.
 */
export class MarshallingError extends Error {
  override readonly name = 'MarshallingError';
}

/**
 * Thrown for a frame with more bytes than its length field can express.
 *
 * The writer has dropped the frame. Code whose answers have no other bound catches this and closes
 * the one connection.
 */
export class FrameTooLargeError extends Error {
  override readonly name = 'FrameTooLargeError';
}
