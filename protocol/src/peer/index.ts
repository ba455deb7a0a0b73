/**
 * `@rookery/protocol/peer`: the codec of what members send each other, apart from the rest because
 * it alone stands on msgpackr. For members only.
 */
export {
  decodePeerMessage,
  encodePeerFrame,
  isPeerMessage,
  type LinkMessage,
  NONCE_BYTES,
  SECRETS_MAX,
} from './codec.js';
