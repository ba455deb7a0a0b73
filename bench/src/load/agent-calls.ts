/**
 * The messages between the bench and its generator processes, and the methods that they may name.
 */
import type { AgentService } from './agent-service.js';

export type AgentMethod = {
  [K in keyof AgentService]: AgentService[K] extends (...parameters: never[]) => unknown
    ? K
    : never;
}[keyof AgentService];

export interface AgentCall {
  readonly number: number;
  readonly method: string;
  readonly parameters: readonly unknown[];
}

export interface AgentReply {
  readonly number: number;
  readonly result: unknown;
  /** The stack of what was thrown, or null. */
  readonly failure: string | null;
}

const METHODS: Readonly<Record<AgentMethod, true>> = {
  setUp: true,
  openLoad: true,
  measureLoad: true,
  stopLoad: true,
  closeLoad: true,
  connectCrowd: true,
  connectCrowdAgain: true,
  reconnectCrowd: true,
  createEphemerals: true,
  watch: true,
  change: true,
  abandonCrowd: true,
  closeCrowd: true,
  clientCost: true,
};

export function isAgentMethod(name: string): name is AgentMethod {
  return Object.hasOwn(METHODS, name);
}
