/** KeyValueStore in memory, for tests and the simulator: deterministic, and it can crash. */
export class MemoryStore {}
