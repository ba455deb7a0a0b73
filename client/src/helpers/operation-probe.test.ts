/** The probe against a server in memory: what it says, and that its link is always closed. */
import {
  ConnectRequest,
  ConnectResponse,
  decode,
  FrameReader,
  GetChildrenPageRequest,
  JuteReader,
  JuteWriter,
  OpCode,
  RaiseSequenceRequest,
} from '@rookery/protocol';
import { expect, it } from 'vitest';
import { FakeSurroundings } from '../testing/fake-surroundings.js';
import type { LinkEvents } from '../wire/link.js';
import { type Asked, probeOperation } from './operation-probe.js';

type Answer = (writer: JuteWriter) => void;
/** What the server does with a request: an answer, nothing, or it closes. */
type Script = (opcode: number, xid: number) => Answer | 'silence' | 'close';

const ADDRESS = { server: { host: 'h', port: 1 }, ip: '127.0.0.1' };

function probe(script: Script, handshakeTimeoutMs = 4_000, asked: Asked = 'pages') {
  const surroundings = new FakeSurroundings();
  const opcodes: number[] = [];
  const raised: number[] = [];
  const link = { isOpen: true };
  let onClosed = () => {};
  const closed = new Promise<void>((resolve) => {
    onClosed = resolve;
  });
  let events: LinkEvents | null = null;
  const frames = new FrameReader(1 << 20);
  let hasSession = false;
  const close = () => {
    link.isOpen = false;
    setImmediate(() => events?.onClose(null));
  };
  const send = (write: Answer) => {
    const writer = new JuteWriter();
    writer.beginFrame();
    write(writer);
    writer.endFrame();
    const bytes = writer.take();
    setImmediate(() => events?.onData(bytes));
  };
  const onFrame = (frame: Uint8Array) => {
    if (!hasSession) {
      hasSession = true;
      expect(decode(ConnectRequest, frame).sessionId).toBe(0);
      const response = { protocolVersion: 0, timeoutMs: handshakeTimeoutMs, sessionId: 7 };
      send((writer) => {
        ConnectResponse.write(writer, {
          ...response,
          password: new Uint8Array(16),
          readOnly: false,
        });
      });
      return;
    }
    const reader = new JuteReader(frame);
    const xid = reader.int();
    const opcode = reader.int();
    opcodes.push(opcode);
    if (opcode === OpCode.getChildrenPage) {
      expect(GetChildrenPageRequest.read(reader)).toMatchObject({ path: '/', watch: false });
    }
    if (opcode === OpCode.raiseSequence) raised.push(RaiseSequenceRequest.read(reader).atLeast);
    const answer = script(opcode, xid);
    if (answer === 'close') close();
    else if (answer !== 'silence') send(answer);
  };
  const result = probeOperation({
    asked,
    address: ADDRESS,
    surroundings,
    timeoutMs: 1_000,
    dial: (_, given) => {
      events = given;
      setImmediate(() => events?.onOpen());
      return {
        write: (bytes) => {
          frames.push(bytes);
          for (let frame = frames.next(); frame !== null; frame = frames.next()) onFrame(frame);
        },
        end: () => undefined,
        destroy: () => {
          events = null;
          link.isOpen = false;
          onClosed();
        },
      };
    },
  });
  return { result, opcodes, raised, link, closed, surroundings };
}

function header(xid: number, error: number): Answer {
  return (writer) => {
    writer.int(xid);
    writer.long(1);
    writer.int(error);
  };
}

it.each([
  ['that answers', 0],
  ['that knows the operation but does not let us see the root', -102],
])('a server %s has pages, and the session of the probe is closed', async (_, error) => {
  const { result, opcodes, link, closed, surroundings } = probe((_opcode, xid) =>
    header(xid, error),
  );
  expect(await result).toBe('offered');
  await closed;
  expect(opcodes).toEqual([OpCode.getChildrenPage, OpCode.closeSession]);
  expect([link.isOpen, surroundings.timerCount]).toEqual([false, 0]);
});

it('a server that does not know the operation has none', async () => {
  const { result, opcodes, link } = probe((_, xid) => header(xid, -6));
  expect(await result).toBe('refused');
  expect([opcodes, link.isOpen]).toEqual([[OpCode.getChildrenPage], false]);
});

it.each<[string, Script, number?]>([
  ['has no quorum and refuses the session', () => 'silence', 0],
  ['asks for credentials first', (_, xid) => header(xid, -124)],
  ['speaks another protocol', () => (writer) => writer.int(1)],
])('of a server that %s nothing is known', async (_, script, handshakeTimeoutMs) => {
  const { result, link, surroundings } = probe(script, handshakeTimeoutMs);
  expect(await result).toBe('unknown');
  expect([link.isOpen, surroundings.timerCount]).toEqual([false, 0]);
});

it('a server that closes the connection when it is asked may not know the operation', async () => {
  const { result, link, surroundings } = probe(() => 'close');
  expect(await result).toBe('closed');
  expect([link.isOpen, surroundings.timerCount]).toEqual([false, 0]);
});

it('of a server that is silent nothing is known when the time is up', async () => {
  const { result, link, surroundings } = probe(() => 'silence');
  await surroundings.settle();
  expect(await result).toBe('unknown');
  expect([surroundings.nowMs(), link.isOpen]).toEqual([1_000, false]);
});

it('has seen the page answered although the session cannot be closed', async () => {
  const { result, closed } = probe((opcode, xid) =>
    opcode === OpCode.getChildrenPage ? header(xid, 0) : 'close',
  );
  expect(await result).toBe('offered');
  await closed;
});

it('answers before its session is closed, and waits for that as long as the limit is', async () => {
  const { result, opcodes, link, surroundings } = probe((opcode, xid) =>
    opcode === OpCode.getChildrenPage ? header(xid, 0) : 'silence',
  );
  expect(await result).toBe('offered');
  expect([opcodes, link.isOpen]).toEqual([[OpCode.getChildrenPage, OpCode.closeSession], true]);
  await surroundings.settle();
  expect([surroundings.nowMs(), link.isOpen]).toEqual([1_000, false]);
});

it('asks for raised numbers by one that every server refuses, so that none is raised', async () => {
  const ask = (error: number) => probe((_, xid) => header(xid, error), 4_000, 'raisedSequences');
  const known = ask(-8);
  expect(await known.result).toBe('offered');
  await known.closed;
  expect(known.opcodes).toEqual([OpCode.raiseSequence, OpCode.closeSession]);
  expect(known.raised).toEqual([-1]);
  expect(await ask(-6).result).toBe('refused');
  // It would be a server that raises numbers without a look at them.
  expect(await ask(0).result).toBe('unknown');
  const older = probe(() => 'close', 4_000, 'raisedSequences');
  expect(await older.result).toBe('closed');
});
