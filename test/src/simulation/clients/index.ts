/**
 * The simulated clients of a run: what the rest of the simulator uses of them.
 */
export { HANDSHAKE_TIMEOUT_MS, type Seat } from './client-parts.js';
export { Clients, type ClientsSetup } from './clients.js';
export { type ClientOptions, drawClientOptions, WORKS, type Work } from './options.js';
