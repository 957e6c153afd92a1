/** What the routes of calls have in common: how a call is shown, and how one that does not exist is refused. */
import { z } from 'zod';
import { TrunklineError } from '../../foundation/errors.ts';
import { nameSchemas } from '../server/named-schemas.ts';

/** Whose speech it is: the caller's, or what the caller hears. */
export const track = z.enum(['inbound', 'outbound']);

/** Who speaks on each track; null = no name was given. */
export const callNames = z.object({ inbound: z.string().nullable(), outbound: z.string().nullable() });

/** The last answer of a SIP trunk. */
export const sipAnswer = z.object({ status: z.int(), reason: z.string() });

/** A call, as the API shows it. */
export const call = z.object({
  id: z.string().describe("The carrier's name for the call, e.g. Twilio's CA…"),
  carrier: z.string(),
  from: z.string().nullable(),
  to: z.string().nullable(),
  names: callNames.describe(
    'Who speaks on each track: `callerName` and `agentName` of the parameters, or what the carrier told',
  ),
  agent: z.string().nullable().describe('The parameter `agent`: whose call it is'),
  queue: z.string().nullable().describe('The parameter `queue`'),
  app: z.string().nullable().describe('The address of its app or of its TwiML, without the query; null = it has none'),
  flow: z.string().nullable().describe('The flow that it began with; null = it went through none'),
  flowVersion: z.string().nullable().describe('The version of that flow: 8 hexadecimal digits'),
  appLost: z.boolean().describe('The connection to the app broke and is being opened again'),
  appMuted: z.boolean().describe('Somebody took the call over: what the app says is passed over'),
  state: z
    .enum(['dialing', 'live', 'ended'])
    .describe('`dialing`: Trunkline makes the call, and nobody has answered yet'),
  phase: z
    .enum(['ringing', 'queued', 'live', 'held'])
    .nullable()
    .describe('As in `call.state`; null when the call has ended'),
  startedAt: z.iso.datetime().describe('When the call began; while nobody has answered, when it was dialed'),
  endedAt: z.iso.datetime().nullable(),
  endReason: z
    .string()
    .nullable()
    .describe(
      'As in `call.ended`: hangup, closed, lost, timeout, error, drained, api, app, app_unreachable, busy, ' +
        'unanswered, refused, server_lost; null before the call ends',
    ),
  tracks: z.array(track).readonly(),
  lagMs: z.number().nullable().describe('Lag of the last caption; null before the first caption'),
  worstLagMs: z.number().nullable().describe('The worst lag of its final captions; null before the first'),
  durationMs: z.number().describe('Duration of the sound that was received'),
  counts: z
    .object({ finals: z.int(), spoken: z.int(), keys: z.int(), gaps: z.int() })
    .describe('How many final captions, things said to the caller, keys and gaps there are'),
  handoffData: z
    .string()
    .nullable()
    .describe('What the app passed on to whoever takes over the call, in its `end`; null = nothing'),
  sip: sipAnswer
    .nullable()
    .describe(
      'Of a call that Trunkline made over SIP and that nobody took: the last answer of the trunk. ' +
        '408 `No answer` and 503 `Unreachable` = it gave none. Null = another call',
    ),
  outcome: z.string().nullable().describe('What came of it, as people noted it'),
  tags: z.array(z.string()).readonly(),
  sound: z.enum(['recording', 'paused', 'recorded']).nullable().describe('Its recording; null = there is none'),
});

const found = z
  .array(
    z.object({
      track,
      startMs: z.number(),
      parts: z.array(z.object({ text: z.string(), marked: z.boolean() })),
    }),
  )
  .describe('With `q`: its last utterances with the words, in the order of their start, in parts');

/** A call of a list; of a search, with what was found. */
export const listedCall = call.extend({ found: found.optional() });

nameSchemas({ Track: track, SipAnswer: sipAnswer, Call: call, ListedCall: listedCall });

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
