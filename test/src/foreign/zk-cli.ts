/**
 * A scripted session of zkCli.sh: commands in, a transcript of the answers out.
 *
 * The shell prints no prompt without a terminal, so every command is followed by `printwatches`,
 * which the shell answers even when it is not connected, as the mark of its end. Watch events come
 * at any time; a step says how many it waits for, and the transcript has them after the answer.
 * Whatever differs from run to run is masked, so transcripts of two servers can be compared.
 */
import { Conversation } from '../harness/conversation.js';
import { ZK_CLI } from '../harness/foreign.js';

const END_MARK = /^([\s\S]*?)printwatches is (?:on|off)\n/;
const EVENT = /^([\s\S]*?WatchedEvent [^\n]*\n)/;
/** A closed shell complains after every mark, too, before or after the next command's answer. */
const NOISE = /^(SLF4J: .*|WATCHER::|Not connected|\s*)$/;

export interface Step {
  readonly command: string;
  /**
   * The number of events to wait for that this command, or what runs meanwhile, causes; 0 by
   * default.
   */
  readonly events?: number;
  /** Rookery's answer where it differs on purpose: see docs/compatibility.md. */
  readonly divergence?: readonly string[];
}

/** A command and what a reader would see of its answer, masked. */
export type Exchange = readonly [command: string, ...answer: string[]];

/** Runs all steps in one session. */
export async function transcript(server: string, steps: readonly Step[]): Promise<Exchange[]> {
  const exchanges: Exchange[] = [];
  const shell = new Conversation('/bin/sh', [
    '-c',
    'exec "$@" 2>&1',
    'sh',
    ZK_CLI,
    '-server',
    server,
  ]);
  try {
    await shell.expect(/WatchedEvent state:SyncConnected [^\n]*\n/);
    for (const { command, events = 0 } of steps) {
      const shown = command.replaceAll(server, '<server>');
      exchanges.push([shown, ...(await answerTo(shell, command, events))]);
    }
    shell.say('quit');
    await shell.expect(/state:Closed type:None path:null\n/);
    return exchanges;
  } catch (cause) {
    const last = exchanges.slice(-3).flat().join('\n');
    throw new Error(`the session at ${server} got stuck after:\n${last}`, { cause });
  } finally {
    await shell.close();
  }
}

async function answerTo(shell: Conversation, command: string, events: number): Promise<string[]> {
  let text = (await shell.ask(`${command}\nprintwatches`, END_MARK))[1] ?? '';
  while (eventsIn(text).length < events) text += (await shell.expect(EVENT))[1] ?? '';
  const answer = text.split('\n').filter((line) => !NOISE.test(line) && !isEvent(line));
  return [...inOneOrder(answer), ...eventsIn(text)].map(masked);
}

/** An ACL is a set: its entries, of two lines each, are joined to one line each and sorted. */
function inOneOrder(lines: readonly string[]): string[] {
  const entries: string[] = [];
  const others: string[] = [];
  for (const line of lines) {
    if (line.startsWith("'")) entries.push(line);
    else if (/^: c?d?r?w?a?$/.test(line)) entries.push(`${entries.pop() ?? ''}${line}`);
    else others.push(line);
  }
  return [...entries.sort(), ...others];
}

function eventsIn(text: string): string[] {
  return text.split('\n').filter(isEvent);
}

function isEvent(line: string): boolean {
  return line.startsWith('WatchedEvent ');
}

/** Removes zxids, times, session ids and addresses. */
function masked(line: string): string {
  return line
    .replace(/^([cmp]Zxid = )0x[0-9a-f]+$/, '$1<zxid>')
    .replace(/^([cm]time = ).*$/, '$1<time>')
    .replace(/^(ephemeralOwner = )0x[0-9a-f]{2,}$/, '$1<session>')
    .replace(/^version=[0-9a-f]+$/, 'version=<zxid>')
    .replace(/(127\.0\.0\.1|0\.0\.0\.0)(:\d+)+/g, '<address>');
}
