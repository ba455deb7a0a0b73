/** Formats the outputs of the core as the lines of a trace: one line per output, zxids as e1:4. */
import {
  type CoreMessage,
  counterOf,
  epochOf,
  type HistorySummary,
  type Proposal,
  type SyncStart,
  unreachable,
  type VoteMessage,
  type Zxid,
} from '@rookery/protocol';
import type { NoteFacts, ZabOutput } from './core.js';
import type { Packet } from './network.js';

export function zxidText(zxid: Zxid): string {
  if (zxid === 0) return '0';
  return `e${epochOf(zxid)}:${hex(counterOf(zxid))}`;
}

/** Large counters are those near the rollover. */
function hex(counter: number): string {
  return counter > 0xffff ? `0x${counter.toString(16)}` : String(counter);
}

/** `e1:4`, `e1:4..6`, `e1:4..6 e2:1`. */
export function rangesText(batch: Iterable<Proposal>): string {
  const proposals = [...batch];
  const parts: string[] = [];
  let from = 0;
  proposals.forEach((proposal, index) => {
    const next = proposals[index + 1];
    if (next !== undefined && epochOf(next.zxid) === epochOf(proposal.zxid)) return;
    const first = proposals[from];
    from = index + 1;
    if (first === undefined) return;
    const last = zxidText(proposal.zxid).slice(zxidText(proposal.zxid).indexOf(':') + 1);
    parts.push(first === proposal ? zxidText(first.zxid) : `${zxidText(first.zxid)}..${last}`);
  });
  return parts.length === 0 ? 'nothing' : parts.join(' ');
}

export function summaryText(summary: HistorySummary): string {
  const parts = summary.ranges.map(({ epoch, first, last }) =>
    first === last ? `e${epoch}:${hex(first)}` : `e${epoch}:${hex(first)}..${hex(last)}`,
  );
  const log = parts.length === 0 ? 'nothing' : parts.join(' ');
  return summary.base === 0 ? log : `${log} after ${zxidText(summary.base)}`;
}

export function messageText(message: CoreMessage): string {
  switch (message.kind) {
    case 'ping':
      return 'ping';
    case 'vote':
      return voteText(message);
    case 'followerInfo':
      return `followerInfo accepted=${message.acceptedEpoch}`;
    case 'newEpoch':
      return `newEpoch ${message.epoch}${message.established ? ' established' : ''}`;
    case 'ackEpoch': {
      const { currentEpoch, last, applied, history, snapshotOnly } = message;
      const what = `current=${currentEpoch} last=${zxidText(last)} applied=${zxidText(applied)}`;
      const log = snapshotOnly ? 'snapshot only' : `log=[${summaryText(history)}]`;
      return `ackEpoch ${message.epoch} ${what} ${log}`;
    }
    case 'syncStart':
      return `${syncText(message)}${message.diverged ? ' diverged' : ''}`;
    case 'snapshotDone':
      return `snapshotDone ${zxidText(message.zxid)}`;
    case 'propose':
      return `propose ${rangesText(message.batch)}`;
    case 'newLeader':
      return `newLeader ${message.epoch} last=${zxidText(message.last)} id=${message.ensembleId}`;
    case 'ackNewLeader':
      return `ackNewLeader ${message.epoch} last=${zxidText(message.last)}`;
    case 'upToDate':
      return `upToDate committed=${zxidText(message.committed)}`;
    case 'ack':
      return `ack ${zxidText(message.zxid)}`;
    case 'commit':
      return `commit ${zxidText(message.zxid)}`;
    case 'leaderDurable':
      return `leaderDurable ${zxidText(message.zxid)}`;
    case 'confirm':
      return `confirm round ${message.round}`;
    case 'confirmAck':
      return `confirmAck round ${message.round}`;
    default:
      return unreachable(message);
  }
}

function syncText({ mode, after }: SyncStart): string {
  return mode === 'snap' ? 'SNAP' : `${mode.toUpperCase()} after ${zxidText(after)}`;
}

function voteText(vote: VoteMessage): string {
  const view = `(${vote.epoch}, ${zxidText(vote.zxid)})`;
  const marks = marksOf(vote);
  if (vote.state === 'looking') {
    const choice = vote.leader === 0 ? 'for nobody' : `for ${vote.leader} ${view}`;
    return `vote r${vote.round} ${choice}${marks}`;
  }
  const leader = vote.state === 'leading' ? 'leading' : `following ${vote.leader}`;
  return `vote r${vote.round} ${leader} ${view}${marks}`;
}

function marksOf({ sound, ensembleId, full, spares = [] }: VoteMessage): string {
  const marks = [
    sound ? '' : ' damaged',
    ensembleId === '' ? ' no-id' : '',
    full ? ' full' : '',
    spares.length === 0 ? '' : ` spares=${spares.join()}`,
  ];
  return marks.join('');
}

export function packetText(packet: Packet): string {
  switch (packet.kind) {
    case 'connected':
      return 'connected';
    case 'closed':
      return 'closed';
    case 'chunk':
      return `chunk ${packet.index} of the snapshot at ${zxidText(packet.zxid)}`;
    case 'message':
      return messageText(packet.message);
    default:
      return unreachable(packet);
  }
}

/** Null for an output that a trace does not show. */
export function outputText(id: number, output: ZabOutput): string | null {
  switch (output.kind) {
    case 'append':
      return `${id} append t${output.ticket} ${rangesText(output.batch)}`;
    case 'giveUp':
      return `${id} giveUp t${output.ticket} after ${zxidText(output.after)}${numbersIn(output.reason)}`;
    case 'truncate':
      return `${id} truncate t${output.ticket} after ${zxidText(output.after)}`;
    case 'saveEpochs': {
      const { ticket, accepted, current, ensembleId, founded } = output;
      const ensemble = `id=${ensembleId || 'none'}${founded ? ' founded' : ''}`;
      return `${id} saveEpochs t${ticket} accepted=${accepted} current=${current} ${ensemble}`;
    }
    case 'installSnapshot':
      return `${id} installSnapshot t${output.ticket} ${zxidText(output.zxid)}`;
    case 'send':
      if (output.message.kind === 'ping') return null;
      return `${id} -> ${output.peer} ${messageText(output.message)}`;
    case 'deliver':
      return `${id} deliver ${rangesText(output.batch)}`;
    case 'confirmed':
      return `${id} confirmed ${output.id} at ${zxidText(output.zxid)}`;
    case 'refusal':
      return `${id} ${output.isOn ? 'refuses' : 'takes'} data, full=${output.full.join() || 'none'}`;
    case 'role':
      return output.role === 'looking'
        ? `${id} role looking`
        : `${id} role ${output.role} leader=${output.leader} epoch=${output.epoch}`;
    case 'sendHistory':
      return `${id} sendHistory to ${output.peer} (${zxidText(output.after)}, ${zxidText(output.through)}]`;
    case 'sendSnapshot':
      return `${id} sendSnapshot to ${output.peer}`;
    case 'disconnect':
      return `${id} disconnect ${output.peer}${numbersIn(output.reason)}`;
    case 'note':
      return `${id} note ${output.event}${factsText(output.facts)}`;
    default:
      return unreachable(output);
  }
}

/** ` name=value` of each fact, and of a reason its numbers. */
function factsText({ reason, ...facts }: NoteFacts): string {
  const texts = Object.entries(facts).map(([name, value]) => ` ${name}=${value}`);
  return texts.join('') + (reason === undefined ? '' : numbersIn(`${reason}`));
}

/** Members, epochs and times are what the core has found out. A reason's words are for people. */
function numbersIn(reason: string): string {
  const numbers = reason.match(/\b(?:0x[\da-f]+|\d+)\b/g) ?? [];
  return numbers.length === 0 ? '' : ` (${numbers.join(' ')})`;
}
