/**
 * Changes znodes of a member in a client session that lasts for one request: see data-session.ts.
 */
import {
  type Acl,
  Create2Response,
  CreateFlag,
  CreateRequest,
  CreateTtlRequest,
  encode,
  type JuteReader,
  OpCode,
  PathVersionRequest,
  SetAclRequest,
  SetDataRequest,
  Stat,
} from '@rookery/protocol';
import { NO_NODE } from '../../state/tree.js';
import type { ApiMember } from './api-member.js';
import type { Caller } from './caller.js';
import { DataSession } from './data-session.js';
import { mayReadNode } from './member-nodes.js';
import type { NewNode, NodeMode, NodeWriter, OpenWriter } from './node-source.js';
import { keeperProblem } from './problem.js';

const FLAGS: Readonly<Record<NodeMode, number>> = {
  persistent: CreateFlag.persistent,
  sequential: CreateFlag.persistentSequential,
  container: CreateFlag.container,
  ttl: CreateFlag.persistentWithTtl,
  'ttl-sequential': CreateFlag.persistentSequentialWithTtl,
};

export function sessionWriters(member: ApiMember): OpenWriter {
  return async (caller) => {
    const open = member.openStream.bind(member);
    return new SessionWriter(member, caller, await DataSession.open(open, caller));
  };
}

class SessionWriter implements NodeWriter {
  readonly #member: ApiMember;
  readonly #caller: Caller;
  readonly #session: DataSession;

  constructor(member: ApiMember, caller: Caller, session: DataSession) {
    this.#member = member;
    this.#caller = caller;
    this.#session = session;
  }

  async create({ path, mode, ttlMs, data, acl }: NewNode) {
    const flags = FLAGS[mode];
    const reply =
      ttlMs > 0
        ? this.#ask(
            path,
            OpCode.createTtl,
            encode(CreateTtlRequest, { path, data, acl, flags, ttlMs }),
          )
        : this.#ask(
            path,
            mode === 'container' ? OpCode.createContainer : OpCode.create2,
            encode(CreateRequest, { path, data, acl, flags }),
          );
    return Create2Response.read(await reply);
  }

  async setData(path: string, data: Uint8Array, version: number): Promise<Stat> {
    const body = encode(SetDataRequest, { path, data, version });
    return Stat.read(await this.#ask(path, OpCode.setData, body));
  }

  async setAcl(path: string, acl: readonly Acl[], version: number): Promise<Stat> {
    const body = encode(SetAclRequest, { path, acl, version });
    return Stat.read(await this.#ask(path, OpCode.setAcl, body));
  }

  async remove(path: string, version: number): Promise<void> {
    await this.#ask(path, OpCode.delete, encode(PathVersionRequest, { path, version }));
  }

  async now(path: string): Promise<Stat | null> {
    const { tree } = this.#member.state;
    const node = tree.find(path);
    if (node === NO_NODE || !mayReadNode(tree, node, this.#caller.requester)) return null;
    return tree.stat(node);
  }

  end(): void {
    this.#session.end();
  }

  /** The body of the answer; throws what went wrong as HttpError. */
  async #ask(path: string, opcode: number, body: Uint8Array): Promise<JuteReader> {
    const reply = await this.#session.request(opcode, body);
    if (reply.error !== 0) throw keeperProblem(reply.error, { path });
    return reply.body;
  }
}
