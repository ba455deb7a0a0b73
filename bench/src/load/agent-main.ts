/**
 * The main module of a generator process: calls the methods of one AgentService that messages name.
 *
 * Only `agent.ts` starts it. It ends with its parent.
 */
import { type AgentCall, type AgentReply, isAgentMethod } from './agent-calls.js';
import { AgentService } from './agent-service.js';

const service = new AgentService();

process.on('message', (call: AgentCall) => {
  void answer(call).then((reply) => process.send?.(reply));
});
process.on('disconnect', () => process.exit());

async function answer({ number, method, parameters }: AgentCall): Promise<AgentReply> {
  try {
    if (!isAgentMethod(method)) throw new Error(`an agent has no ${method}`);
    const result: unknown = await Reflect.apply(service[method], service, parameters);
    return { number, result, failure: null };
  } catch (error) {
    const failure = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { number, result: null, failure };
  }
}
