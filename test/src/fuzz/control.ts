/**
 * The control client, which must not notice anything: it writes and reads its own znode while
 * others send garbage.
 *
 * As the super user it also deletes what garbage has created, so that memory shows leaks and not
 * data.
 */
import { AUTH_XID, AuthPacket, encode, JuteWriter, OpCode, RequestHeader } from '@rookery/protocol';
import type { Member } from '../harness/member.js';
import { ensure, getChildren, getData, remove, setData } from '../harness/operations.js';
import { connectTo } from '../harness/use-client.js';
import type { WireClient } from '../harness/wire-client.js';

/** For the members' configuration: the digest of super:control. */
export const SUPER_DIGEST = 'super:H8A9p8zmEqGes/QUR4WeRDKL+Xk=';
const SUPER_SECRET = 'super:control';
const KEPT = ['/zookeeper', '/zookeeper/config', '/zookeeper/quota'];
const PAUSE_MS = 10;
const LONG_PAUSE_MS = 1_000;

export class Control {
  readonly #client: WireClient;
  readonly #path: string;
  #rounds = 0;
  #slowestMs = 0;
  #running = true;
  #pauseMs = PAUSE_MS;
  #done: Promise<void> = Promise.resolve();

  static async start(member: Member): Promise<Control> {
    const client = await connectTo(member, { timeoutMs: 20_000, recording: false });
    client.sendRaw(superAuth());
    const control = new Control(client, `/control-${member.id}`);
    await ensure(client, control.#path);
    control.#done = control.#loop();
    control.#done.catch(() => undefined);
    return control;
  }

  private constructor(client: WireClient, path: string) {
    this.#client = client;
    this.#path = path;
  }

  get rounds(): number {
    return this.#rounds;
  }

  get slowestMs(): number {
    return Math.round(this.#slowestMs);
  }

  /** There are few rounds, so that the member has next to nothing to do. */
  slowDown(): void {
    this.#pauseMs = LONG_PAUSE_MS;
  }

  speedUp(): void {
    this.#pauseMs = PAUSE_MS;
  }

  /** Ends after its znode and session are gone. Rejects if anything has failed since the start. */
  async remove(): Promise<void> {
    this.#running = false;
    await this.#done;
    await remove(this.#client, this.#path);
    await this.#client.close();
  }

  /** Rejects as soon as anything fails. */
  get failed(): Promise<void> {
    return this.#done;
  }

  /** Deletes every znode except the system's and the control clients' own. */
  async clear(): Promise<number> {
    return await this.#clearBelow('/');
  }

  async #clearBelow(path: string): Promise<number> {
    const names = await getChildren(this.#client, path).catch(() => []);
    let cleared = 0;
    for (const name of names) {
      const child = path === '/' ? `/${name}` : `${path}/${name}`;
      if (child.startsWith('/control-')) continue;
      cleared += await this.#clearBelow(child);
      if (KEPT.includes(child)) continue;
      await remove(this.#client, child).catch(() => undefined);
      cleared += 1;
    }
    return cleared;
  }

  async #loop(): Promise<void> {
    while (this.#running) {
      await this.#round();
      await new Promise((resolve) => {
        setTimeout(resolve, this.#pauseMs);
      });
    }
  }

  async #round(): Promise<void> {
    const before = performance.now();
    const value = `round ${this.#rounds}`;
    await setData(this.#client, this.#path, value);
    const { data } = await getData(this.#client, this.#path);
    if (data !== value) throw new Error(`${this.#path} is ${data}, should be ${value}`);
    this.#slowestMs = Math.max(this.#slowestMs, performance.now() - before);
    this.#rounds += 1;
  }
}

function superAuth(): Uint8Array {
  const writer = new JuteWriter();
  writer.beginFrame();
  RequestHeader.write(writer, { xid: AUTH_XID, type: OpCode.auth });
  const packet = { type: 0, scheme: 'digest', auth: Buffer.from(SUPER_SECRET) };
  writer.raw(encode(AuthPacket, packet));
  writer.endFrame();
  return writer.take();
}
