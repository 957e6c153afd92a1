/**
 * The events of the feed as the API's description shows them: `FeedEvent` of src/calls/feed/events.ts, kind by kind.
 * Nothing is checked with them: stored events of earlier versions may have fewer members.
 */
import { z } from 'zod';
import { ANSWERERS } from '../../calls/answered/answered-by.ts';
import type { FeedEvent } from '../../calls/feed/events.ts';
import { CALL_REFERENCES } from '../../protocols/dialect.ts';
import { callNames, sipAnswer, track } from './call-schemas.ts';

const atMs = z.number().describe('Ms of the call, as its sound counts them');
const time = z.iso.datetime();
const text = z.string();
const textOrNull = z.string().nullable();
const flow = text.describe("The flow that the step is of: the call's, or one that it calls");

/** An event with the members `shape`, and those that any event may have. */
function event<const T extends readonly [string, ...string[]], S extends z.ZodRawShape>(types: T, shape: S) {
  return z.object({
    type: z.literal(types),
    callId: z.string(),
    ...shape,
    late: z.literal(true).exactOptional().describe('It comes after an end of its call that others told'),
  });
}

const parties = { carrier: text, from: textOrNull, to: textOrNull, names: callNames };
const owner = { agent: textOrNull, queue: textOrNull, startedAt: time };
const span = { track, startMs: z.number(), endMs: z.number() };

const started = event(['call.started'], {
  ...parties,
  ...owner,
  tracks: z.array(track).readonly(),
  app: textOrNull.describe('The address of its app or of its TwiML, without the query; null = it has none'),
  references: z
    .partialRecord(z.enum(CALL_REFERENCES), text)
    .exactOptional()
    .describe('What other systems call the call'),
}).meta({ id: 'CallStartedEvent', description: 'A call has begun' });

const ringing = event(['call.state'], { ...parties, ...owner, state: z.literal('ringing'), atMs: z.literal(0) }).meta({
  id: 'CallRingingEvent',
  description: 'We make a call, and nobody has answered yet: its first event',
});

const state = event(['call.state'], { state: z.enum(['queued', 'live', 'held']), atMs }).meta({
  id: 'CallStateEvent',
  description: 'What a call is doing has changed',
});

const transferred = event(['call.transferred'], {
  by: z.enum(['refer', 'replaces', 'asterisk']),
  from: textOrNull.describe('The number, user or extension that the call was with; null = not told'),
  to: textOrNull.describe('What it goes on with'),
  kind: z.enum(['blind', 'warm', 'attended']),
  atMs,
}).meta({
  id: 'CallTransferredEvent',
  description: 'A call goes on with somebody else, at the wish of whoever it was with',
});

const assigned = event(['call.assigned'], {
  agent: textOrNull,
  queue: textOrNull,
  names: callNames,
  conference: text.exactOptional().describe('What the far side is in with others; left out = nothing'),
  atMs,
}).meta({
  id: 'CallAssignedEvent',
  description: 'Whose call it is, the queue that it waited in, and who speaks, from now on; null = not known',
});

const answered = event(['answered'], { by: z.enum(ANSWERERS).describe('`unknown`: nobody spoke'), atMs }).meta({
  id: 'AnsweredEvent',
  description: 'Who has answered a call that we make; once in a call',
});

const beep = event(['beep'], { heard: z.boolean().describe('False = it fell silent without a beep'), atMs }).meta({
  id: 'BeepEvent',
  description: 'An answering machine records from now on; once in a call',
});

const fax = event(['fax'], { track, tone: z.enum(['cng', 'ced', 'v21']), atMs }).meta({
  id: 'FaxEvent',
  description: 'The far party is a fax machine; once in a call. `cng`: one that calls; `ced`, `v21`: one that answers',
});

const ended = event(['call.ended'], {
  reason: z.enum([
    'hangup',
    'closed',
    'lost',
    'timeout',
    'error',
    'drained',
    'api',
    'app',
    'app_unreachable',
    'busy',
    'unanswered',
    'refused',
    'server_lost',
  ]),
  durationMs: z.number(),
  handoffData: textOrNull.describe('What the app gave to whoever takes over the call; null = nothing'),
  sip: sipAnswer.exactOptional().describe('What the SIP trunk answered last to a call of ours that did not begin'),
}).meta({ id: 'CallEndedEvent', description: 'A call is over' });

const resumed = event(['call.resumed'], { atMs }).meta({
  id: 'CallResumedEvent',
  description: 'Others told the end of a call (`server_lost`), and its gateway is back: the call goes on',
});

const deleted = event(['call.deleted'], {}).meta({
  id: 'CallDeletedEvent',
  description: 'A call was deleted with all that was kept of it; the last event of its id',
});

const updated = event(['call.updated'], { outcome: textOrNull, tags: z.array(text).readonly(), by: text }).meta({
  id: 'CallUpdatedEvent',
  description: 'What people say of a call has changed',
});

const speech = event(['speech.started', 'speech.stopped'], { track, atMs }).meta({
  id: 'SpeechEvent',
  description: 'Somebody begins to speak on a track, or has stopped',
});

const caption = event(['caption'], {
  ...span,
  utterance: z.number().describe("Counts the track's utterances from 1"),
  stable: text.describe('Words that will not change; never shrinks inside an utterance'),
  tail: text.describe('Words that may still change'),
  text,
  final: z.boolean(),
  lagMs: z.number().describe('Wall time from the arrival of the last sound used'),
  confidence: z.number().exactOptional().describe('Of a final: the share of its words, 0 to 1, that may be right'),
  lowConfidence: z.literal(true).exactOptional().describe('Of a final: the confidence is below 0.5'),
  background: z.literal(true).exactOptional().describe("Of a final: it was said far below the caller's level"),
  language: textOrNull
    .exactOptional()
    .describe('Of a final: BCP-47, where it is known; null = probably none that the recogniser understands'),
}).meta({ id: 'CaptionEvent', description: 'What is being said, or with `final` what was said' });

const revision = event(['revision'], {
  ...span,
  utterance: z.number().describe('As in the caption'),
  version: z.number().describe('From 2: the final caption is version 1'),
  text: text.describe('Empty when, as it turned out, nothing was said'),
}).meta({ id: 'RevisionEvent', description: 'A better text of an utterance whose final caption is out' });

const language = event(['language'], {
  track,
  language: textOrNull.describe('BCP-47; null = the recogniser is to find out'),
  atMs,
  by: z.enum(['call', 'number', 'setting', 'app', 'api', 'heard']),
  refused: text.exactOptional().describe('The language that was named, and that is not understood here'),
}).meta({ id: 'LanguageEvent', description: 'Which language is spoken on a track from now on' });

const gap = event(['gap'], {
  ...span,
  reason: z.enum(['engine', 'overload', 'shutdown', 'error', 'media']),
}).meta({ id: 'GapEvent', description: 'A stretch of a track is missing: no final caption comes of it' });

const lag = event(['lag.started', 'lag.ended'], { track, atMs, lagMs: z.number() }).meta({
  id: 'LagEvent',
  description: 'The captions of a track have fallen behind what is said on it, or have caught up',
});

const spoken = event(['spoken'], {
  utterance: text.describe('As the API named it when it was asked for'),
  text,
  heardText: text.describe('What of it the caller heard, in whole words'),
  interrupted: z.boolean().describe('Cut off, or never begun'),
  startMs: z.number(),
  endMs: z.number(),
  atMs,
}).meta({ id: 'SpokenEvent', description: 'Something that we said is over; once for each utterance' });

const keys = event(['dtmf'], { digit: text, atMs }).meta({ id: 'DtmfEvent', description: 'A key was pressed' });

const appConnection = event(['app.lost', 'app.back'], { atMs }).meta({
  id: 'AppConnectionEvent',
  description: "The app's connection broke and is being opened again, or is back",
});

const appMuted = event(['app.muted', 'app.unmuted'], { by: text, atMs }).meta({
  id: 'AppMutedEvent',
  description: 'Somebody took a call over from its app, or gave it back',
});

const note = event(['note'], { note: text, author: text, text, at: time }).meta({
  id: 'NoteEvent',
  description: 'Somebody wrote a note on a call, maybe after its end',
});

const mark = event(['mark'], { author: text, label: text, atMs }).meta({
  id: 'MarkEvent',
  description: 'Somebody marked a moment of a call',
});

const sound = event(['recording'], { state: z.enum(['on', 'paused', 'off']), atMs }).meta({
  id: 'SoundStateEvent',
  description: "The recording of a call's sound began, pauses or is over",
});

const hint = event(['hint'], {
  hint: text.describe('Names it within its call; the same name again replaces it'),
  source: z.enum(['card', 'model']),
  title: text,
  text,
  link: textOrNull,
  words: textOrNull.describe('The words that brought it; null where no single ones did'),
  track: track.nullable(),
  atMs,
}).meta({ id: 'HintEvent', description: 'Advice for whoever is on the call, found in what was said' });

const flowStarted = event(['flow.started'], { flow: text, version: text, atMs }).meta({
  id: 'FlowStartedEvent',
  description: 'A flow begins to talk to the caller',
});

const flowStep = event(['flow.step'], {
  flow,
  step: text,
  verb: text,
  by: z.enum(['key', 'fax', 'failed']).exactOptional().describe('What led here, where it was not the step before'),
  atMs,
}).meta({ id: 'FlowStepEvent', description: 'A step of a flow begins' });

const flowInput = event(['flow.input'], {
  flow,
  step: text,
  kind: z.enum(['keys', 'speech', 'none']),
  outcome: z.enum(['match', 'noMatch', 'noInput']),
  text: textOrNull.describe('What the caller said or pressed; null = nothing, or the flow keeps it private'),
  value: z.union([text, z.number(), z.boolean(), z.null()]).describe('What it was understood as'),
  atMs,
}).meta({ id: 'FlowInputEvent', description: 'What became of a question of a flow, once for each try' });

const flowMessage = event(['flow.message'], {
  flow,
  step: text,
  message: text.describe('Names it within its call: `message-1`'),
  startMs: z.number(),
  endMs: z.number(),
  atMs,
}).meta({ id: 'FlowMessageEvent', description: 'A caller has left a message' });

const flowEnded = event(['flow.ended'], {
  flow: text,
  outcome: z.enum(['done', 'transferred', 'hangup', 'failed']),
  step: text.describe('The step that it ended in'),
  reason: textOrNull.describe('Why it failed, or who ended it; null = there is nothing to say'),
  atMs,
}).meta({ id: 'FlowEndedEvent', description: 'A flow no longer talks to the caller' });

/** Any event of the feed; which it is, its member `type` says. */
export const feedEvent = z
  .union([
    started,
    ringing,
    state,
    transferred,
    assigned,
    answered,
    beep,
    fax,
    ended,
    resumed,
    deleted,
    updated,
    speech,
    caption,
    revision,
    language,
    gap,
    lag,
    spoken,
    keys,
    appConnection,
    appMuted,
    note,
    mark,
    sound,
    hint,
    flowStarted,
    flowStep,
    flowInput,
    flowMessage,
    flowEnded,
  ])
  .meta({
    id: 'FeedEvent',
    description: 'An event of the feed. Pass over types and members that you do not know',
  }) satisfies z.ZodType<FeedEvent>;
