/** What a process loads for the ports of its operators, when one is configured. */
export { type OperatorPorts, openOperatorPorts } from './operator-ports.js';
