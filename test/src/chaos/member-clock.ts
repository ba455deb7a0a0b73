/**
 * Makes the date of a member jump. It is loaded into the member before anything else
 * (`node --import`).
 *
 * The kernel has no namespace for the time of day, so this file shifts the member's `Date` by the
 * number of ms in a file, which it reads again and again. Monotonic clocks stay as they are, just
 * as when somebody sets the date of a machine. The product does not know about it.
 */
import { readFileSync } from 'node:fs';

const LOOK_EVERY_MS = 100;
const file = process.env['ROOKERY_CHAOS_CLOCK'];
if (file === undefined) throw new Error('ROOKERY_CHAOS_CLOCK names the file of the clock');

let offsetMs = readOffset(file);
setInterval(() => {
  offsetMs = readOffset(file);
}, LOOK_EVERY_MS).unref();

const RealDate = Date;
const now = () => RealDate.now() + offsetMs;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) => {
    return Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget);
  },
  get: (target, key, receiver) => (key === 'now' ? now : Reflect.get(target, key, receiver)),
});

/** The file is empty while it is being rewritten; the clock then stays as it is. */
function readOffset(path: string): number {
  const text = readFileSync(path, 'utf8');
  return text === '' ? offsetMs : Number(text);
}
