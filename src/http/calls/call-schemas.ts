/** What the routes of calls have in common: how a call is shown, and how one that does not exist is refused. */
import { z } from 'zod';
import { TrunklineError } from '../../foundation/errors.ts';

/** Whose speech it is: the caller's, or what the caller hears. */
export const track = z.enum(['inbound', 'outbound']);

/** A call, as the API shows it. */
export const call = z.object({
  id: z.string().describe("The carrier's name for the call, e.g. Twilio's CA…"),
  carrier: z.string(),
  from: z.string().nullable(),
  to: z.string().nullable(),
  state: z
    .enum(['dialing', 'live', 'ended'])
    .describe('`dialing`: Trunkline makes the call, and nobody has answered yet'),
  startedAt: z.iso.datetime().describe('When the call began; while nobody has answered, when it was dialed'),
  endedAt: z.iso.datetime().nullable(),
  endReason: z
    .string()
    .nullable()
    .describe(
      'As in `call.ended`: hangup, closed, lost, timeout, error, drained, api, app, app_unreachable, busy, ' +
        'unanswered, refused; null before the call ends',
    ),
  tracks: z.array(track).readonly(),
  lagMs: z.number().nullable().describe('Lag of the last caption; null before the first caption'),
  durationMs: z.number().describe('Duration of the sound that was received'),
  handoffData: z
    .string()
    .nullable()
    .describe('What the app passed on to whoever takes over the call, in its `end`; null = nothing'),
});

/** The path of one call. */
export const callPath = z.object({ id: z.string() });

/** A route that has no query. */
export const noQuery = z.strictObject({});

/** @throws TrunklineError `call_not_found`; `what` = "call" or "live call" */
export function refuseUnknown(what: string): never {
  throw new TrunklineError(
    'call_not_found',
    `there is no ${what} with that id; GET /v1/calls lists live calls and those that ended lately`,
  );
}
