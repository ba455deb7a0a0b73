/**
 * Goal: `rookery zk` prints what zkCli.sh prints, byte for byte and on the same stream. Method:
 * sessions of zkCli.sh 3.8.0 with ZooKeeper 3.8.0 were recorded; the same lines are given to
 * `rookery zk` with a Rookery, and the outputs must be equal. Zxids, times, session ids and the
 * server's address are masked in both.
 */
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { useServingEnsemble } from '../../harness/ensemble.js';
import { productUnderTest, ROOKERY_MAIN } from '../../harness/product.js';

interface Transcript {
  readonly args: readonly string[];
  readonly input: readonly string[];
  readonly code: number;
  readonly out: readonly string[];
  readonly err: readonly string[];
}

const transcripts: readonly Transcript[] = JSON.parse(
  readFileSync(new URL('fixtures/zk-shell/transcripts.json', import.meta.url), 'utf8'),
);

it.skipIf(productUnderTest().name === 'apache')(
  'recorded sessions of zkCli.sh are reproduced byte for byte',
  async () => {
    const ensemble = await useServingEnsemble({ size: 1 });
    const server = `127.0.0.1:${ensemble.ports[0]}`;
    for (const { args, input, code, out, err } of transcripts) {
      const ours = await run(['zk', '-server', server, ...args], input.join('\n'));
      expect({ args, out: masked(ours.out, server) }).toEqual({ args, out });
      expect({ args, err: masked(ours.err, server) }).toEqual({ args, err });
      expect({ args, code: ours.code }).toEqual({ args, code });
    }
    expect(transcripts[0]?.input.length).toBeGreaterThan(100);
  },
);

it.runIf(process.platform === 'linux' && productUnderTest().name !== 'apache')(
  'a full disk of the output is said once, and the command ends without waiting for a line',
  async () => {
    const ensemble = await useServingEnsemble({ size: 1 });
    const full = openSync('/dev/full', 'w');
    onTestFinished(() => closeSync(full));
    const server = `127.0.0.1:${ensemble.ports[0]}`;
    for (const words of [[], ['ls', '/']]) {
      const { code, err } = await runOnto(full, ['zk', '-server', server, ...words]);
      expect({ words, code, err }).toEqual({
        words,
        code: 1,
        err: expect.stringMatching(/^rookery: standard output cannot be written: ENOSPC[^\n]*\n$/),
      });
    }
  },
);

it.skipIf(productUnderTest().name === 'apache')(
  'a server that cannot be reached is one of the option that the user typed',
  async () => {
    // Nobody listens on port 1.
    const words = ['-server', '127.0.0.1:1', '-timeout', '200', 'ls', '/'];
    const { code, err } = await run(['zk', ...words], '');
    expect(err).toMatch(/0 of 1 servers can be reached .* The servers are those of -server\.\s*$/);
    expect(code).toBe(1);
    expect(await run(['zk', '-server'], '')).toMatchObject({
      code: 2,
      err: 'rookery: -server: expected host:port after it.\n',
    });
  },
);

/** Standard output is the file, and standard input stays open. */
function runOnto(file: number, args: readonly string[]) {
  const child = spawn(process.execPath, [ROOKERY_MAIN, ...args], { stdio: ['pipe', file, 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let err = '';
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    err += text;
  });
  return new Promise<{ code: number | null; err: string }>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, err }));
  });
}

function run(args: readonly string[], input: string) {
  const child = spawn(process.execPath, [ROOKERY_MAIN, ...args], { stdio: 'pipe' });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    err += text;
  });
  child.stdin.end(input);
  return new Promise<{ code: number | null; out: string; err: string }>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, out, err }));
  });
}

function masked(text: string, server: string): readonly string[] {
  return text
    .replaceAll(server, '<server>')
    .replace(/^([cmp]Zxid = )0x[\da-f]+$/gm, '$1<zxid>')
    .replace(/^([cm]time = ).*$/gm, '$1<time>')
    .replace(/^(ephemeralOwner = )0x[\da-f]{2,}$/gm, '$1<session>')
    .split('\n');
}
