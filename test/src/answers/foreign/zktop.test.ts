/**
 * zktop, a terminal monitor, as Debian contains it: it parses the answers to `stat` very strictly.
 *
 * It runs in a pseudo-terminal, and the test reads the screen that a user would see.
 */
import { expect, it } from 'vitest';
import { runCommand } from '../../foreign/command.js';
import { useServingEnsemble } from '../../harness/ensemble.js';
import { mayLack, PYTHON } from '../../harness/foreign.js';
import { useClient } from '../../harness/use-client.js';

const ZKTOP = '/usr/bin/zktop';
const SCREEN = new URL('../../foreign/zktop/zktop_screen.py', import.meta.url).pathname;
const DEADLINE_MS = 45_000;

it.skipIf(mayLack(ZKTOP))(
  'zktop shows all three members with their roles, one leader and two followers, and a client',
  async () => {
    const ensemble = await useServingEnsemble();
    const client = await useClient(ensemble.member(3));
    const leader = await ensemble.leader();
    const servers = ensemble.members.map((member) => `127.0.0.1:${member.clientPort}`);
    // A row consists of id, host, port, the first letter of the mode, and eight numbers.
    const rows = ensemble.members.map((member, index) => {
      const mode = member === leader ? 'L' : 'F';
      return `${index}  127\\.0\\.0\\.1 +${member.clientPort} ${mode}( +[\\d.]+){7}`;
    });
    // Waits for the whole screen, including the client's row: the top of it is drawn first.
    const head = 'Ensemble -- nodecount:\\d+ zxid:0x[0-9a-f]+ sessions:\\d+\\n';
    const clientRow = '127\\.0\\.0\\.1 +\\d+ 2 +\\d';
    const pattern = `${head}[\\s\\S]*${rows.join('\\n')}[\\s\\S]*\\n${clientRow}`;
    const { code, output } = await runCommand({
      file: PYTHON,
      args: [SCREEN, servers.join(','), pattern],
      deadlineMs: DEADLINE_MS,
    });
    console.log(output);
    expect(code, output).toBe(0);
    expect(output).toMatch(/^127\.0\.0\.1 +\d+ 2 \d/m);
    await client.close();
  },
  DEADLINE_MS + 30_000,
);
