/**
 * Asks a member of Rookery, at its admin port, which paths and clients of the whole ensemble are
 * the busiest.
 *
 * Members watch their requests only after the first question, so the first answer is empty: they
 * are asked again after a moment.
 */
import { z } from 'zod';
import type { AdminPort } from '../command/admin-port.js';
import { pause } from '../machine/pause.js';

/** Below this time, what members have seen says nothing. */
const SEEN_MS_MIN = 1_000;
const MOMENT_MS = 2_000;
/** The entries of each list that are asked for. */
const LISTED = 50;

const rate = z.number().nonnegative();
const hotSchema = z.object({
  members: z.array(
    z.object({
      id: z.number(),
      answers: z.boolean(),
      spanMs: z.number().optional(),
      readsPerSecond: rate.optional(),
      writesPerSecond: rate.optional(),
    }),
  ),
  paths: z.array(
    z.object({
      path: z.string(),
      readsPerSecond: rate.nullable(),
      writesPerSecond: rate.nullable(),
    }),
  ),
  clients: z.array(
    z.object({
      session: z.string(),
      member: z.number(),
      address: z.string().nullable(),
      requestsPerSecond: rate,
    }),
  ),
});

export type Hot = z.infer<typeof hotSchema>;
export type PathRow = Hot['paths'][number];
export type ClientRow = Hot['clients'][number];

export const NEEDS_URL =
  'Give --url http://host:port, the admin port of a member, which measures this.';

/** Rejects with OperatorError, or with the reason of `signal`. */
export async function lookHot(port: AdminPort, signal: AbortSignal): Promise<Hot> {
  const ask = () => port.get(hotSchema, `/hot?limit=${LISTED}`, signal);
  const first = await ask();
  const seenMs = Math.max(...first.members.map(({ spanMs = 0 }) => spanMs));
  if (seenMs >= SEEN_MS_MIN) return first;
  await pause(MOMENT_MS, signal);
  return await ask();
}
