/**
 * Runs `rookery <command>` as a user does: a process with its own streams, against an ensemble of
 * either product. Every answer in JSON is compared with the schema that the documents give.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { REPOSITORY, ROOKERY_MAIN } from '../../harness/product.js';

export interface ShellOutcome {
  readonly code: number | null;
  /** Standard output as bytes. */
  readonly bytes: Buffer;
  readonly out: string;
  readonly said: string;
}

export interface ShellOptions {
  readonly input?: string | Uint8Array;
  readonly environment?: Readonly<Record<string, string>>;
  readonly directory?: string;
  /** Called once, when it first says something on standard error. */
  readonly onSaid?: () => Promise<void>;
}

const DEADLINE_MS = 60_000;

const document: { readonly $defs: Readonly<Record<string, object>> } = JSON.parse(
  readFileSync(join(REPOSITORY, 'docs/operations/commands.schema.json'), 'utf8'),
);

export class ShellUser {
  readonly connect: string;
  readonly #home: string;

  /** `home` is a directory without any settings. */
  constructor(connect: string, home: string) {
    this.connect = connect;
    this.#home = home;
  }

  run(args: readonly string[], options: ShellOptions = {}): Promise<ShellOutcome> {
    return this.#spawn(process.execPath, [ROOKERY_MAIN, ...args], options);
  }

  /** A line of a shell, in which `"$0" "$1"` stand for the command. */
  shell(line: string, options: ShellOptions = {}): Promise<ShellOutcome> {
    const args = ['-o', 'pipefail', '-c', line, process.execPath, ROOKERY_MAIN];
    return this.#spawn('/bin/bash', args, options);
  }

  #spawn(file: string, args: readonly string[], options: ShellOptions): Promise<ShellOutcome> {
    const child = spawn(file, [...args], {
      stdio: 'pipe',
      cwd: options.directory,
      env: {
        PATH: process.env['PATH'],
        HOME: this.#home,
        ROOKERY_CONNECT: this.connect,
        ...options.environment,
      },
    });
    const killer = setTimeout(() => child.kill('SIGKILL'), DEADLINE_MS);
    const [out, said]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on('data', (part) => out.push(part));
    child.stderr.on('data', (part) => said.push(part));
    if (options.onSaid !== undefined) child.stderr.once('data', options.onSaid);
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.input ?? '');
    return new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => {
        clearTimeout(killer);
        const bytes = Buffer.concat(out);
        const text = Buffer.concat(said).toString();
        resolve({ code, bytes, out: bytes.toString(), said: text });
      });
    });
  }

  /** What the command writes with `-o json`, which must be of the documented shape. */
  async json(args: readonly string[], code = 0): Promise<unknown> {
    const outcome = await this.run([...args, '-o', 'json']);
    if (outcome.code !== code) {
      throw new Error(`${args.join(' ')} ended with ${outcome.code}: ${outcome.said}`);
    }
    const value: unknown = JSON.parse(outcome.out);
    const names = [args.slice(0, 2).join(' '), args[0] ?? ''];
    return this.check(names.find((known) => document.$defs[known] !== undefined) ?? '', value);
  }

  /** Throws unless the value has the documented shape of the command. */
  check(name: string, value: unknown): unknown {
    const schema = document.$defs[name];
    if (schema === undefined) throw new Error(`${name} has no schema`);
    z.fromJSONSchema(Object(schema)).parse(value);
    return value;
  }
}
