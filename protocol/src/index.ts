export type * from './peer/messages.js';
export { PEER_PROTOCOL_VERSION } from './peer/messages.js';
export type { PeerId, Proposal, Zxid } from './peer/proposal.js';
