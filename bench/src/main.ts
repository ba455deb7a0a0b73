#!/usr/bin/env node
/**
 * `node bench/dist/main.js`: one run of load against servers that are already there.
 *
 * Prints a few lines, or one line of JSON with --json. Exit code 1 when any request failed or got
 * lost, so that a script cannot take a broken run for a fast one.
 */
import { parseArgs } from 'node:util';
import { type LoadResult, runLoad } from './load.js';
import { hostsOption, numberOption, operationsOption, runCommand, wholeOption } from './options.js';

const USAGE = `Usage: node bench/dist/main.js --connect host:port[,host:port...]
  --operation getData|setData|create|mixed70   (default getData)
  --connections 30   --window 32   --bytes 100   --keys 1000
  --seconds 5   --warmup 1   --json`;

const CPU_SHARE_MAX = 0.6;

await runCommand(USAGE, main);

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      connect: { type: 'string', default: '127.0.0.1:2181,127.0.0.1:2182,127.0.0.1:2183' },
      operation: { type: 'string', default: 'getData' },
      connections: { type: 'string', default: '30' },
      window: { type: 'string', default: '32' },
      bytes: { type: 'string', default: '100' },
      keys: { type: 'string', default: '1000' },
      seconds: { type: 'string', default: '5' },
      warmup: { type: 'string', default: '1' },
      json: { type: 'boolean', default: false },
    },
  });
  const [operation = 'getData'] = operationsOption(values.operation);
  const result = await runLoad({
    hosts: hostsOption(values.connect),
    operation,
    connections: wholeOption('connections', values.connections, { min: 1, max: 20_000 }),
    window: wholeOption('window', values.window, { min: 1, max: 10_000 }),
    valueBytes: wholeOption('bytes', values.bytes, { min: 0, max: 1_000_000 }),
    keys: wholeOption('keys', values.keys, { min: 1, max: 1_000_000 }),
    seconds: numberOption('seconds', values.seconds, { min: 0.1, max: 86_400 }),
    warmupSeconds: numberOption('warmup', values.warmup, { min: 0, max: 3600 }),
  });
  process.stdout.write(values.json ? `${JSON.stringify(result)}\n` : describe(result));
  const failures = Object.keys(result.errors).length + result.lostConnections;
  if (failures > 0) process.exitCode = 1;
}

function describe(result: LoadResult): string {
  const { latencyMs, generator } = result;
  const ms = (value: number) => value.toFixed(2);
  const lines = [
    `${result.operation} ${result.valueBytes} B, ${result.connections} connections x ` +
      `${result.window} outstanding, ${result.seconds} s`,
    `  ${Math.round(result.perSecond)} operations/s, slowest 100 ms ${result.slowestTenthPerSecond}/s`,
    `  latency ms: p50 ${ms(latencyMs.p50)}  p99 ${ms(latencyMs.p99)}  ` +
      `p99.9 ${ms(latencyMs.p999)}  max ${ms(latencyMs.max)}`,
    `  longest silence ${ms(result.longestSilenceMs)} ms, over 50 ms: ${result.silencesOver50Ms}`,
    `  errors ${JSON.stringify(result.errors)}, lost requests ${result.lostRequests}, ` +
      `lost connections ${result.lostConnections}`,
    `  generator: ${Math.round(generator.cpuShare * 100)} % of a processor, ` +
      `worst delay ${ms(generator.delayMaxMs)} ms`,
  ];
  if (generator.cpuShare > CPU_SHARE_MAX) {
    lines.push('  WARNING: the generator itself was busy; the server may have been faster');
  }
  return `${lines.join('\n')}\n`;
}
