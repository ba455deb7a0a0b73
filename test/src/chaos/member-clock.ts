/**
 * Loaded into a member before anything else (`node --import`): a date that can be made to jump.
 *
 * The kernel has no namespace for the time of day, so the member's `Date` is shifted by the ms that
 * a file names; the file is read again and again. Monotonic clocks are left alone, as they are when
 * somebody sets the date of a machine. The product knows nothing of it.
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

/** Empty while the file is being written anew: then the clock stays. */
function readOffset(path: string): number {
  const text = readFileSync(path, 'utf8');
  return text === '' ? offsetMs : Number(text);
}
