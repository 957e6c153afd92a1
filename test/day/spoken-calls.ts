/**
 * Calls of the day that go the whole way: their dialogues are spoken by the gateway's own voices and sent as Twilio
 * sends a call, with a signed webhook, a call token and both tracks. They are recognised, captioned and recorded.
 */
import { randomUUID } from 'node:crypto';
import { mixDown } from '../../src/audio/mix.ts';
import { Resampler } from '../../src/audio/resample.ts';
import { readWav } from '../../src/audio/wav.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { MULAW_8K, msToSamples } from '../../src/foundation/units.ts';
import { placeCall } from '../../src/simulator/twilio-caller.ts';
import { askVoiceWebhook } from '../../src/simulator/twilio-webhook.ts';
import { type Dialogues, type Step, talkSteps } from './dialogues.ts';
import { AGENTS, callerName, callerNumber, details, pick, type Random } from './people.ts';
import { parametersOf } from './play-day.ts';

const PAUSE_MS = 700;

/** Dialogues with hints, facts and notes beside them. */
const SPOKEN_TAGS: ReadonlySet<string> = new Set(['cancel', 'refund', 'router', 'complaint', 'bill']);

interface SpeakOptions {
  readonly dialogues: Dialogues;
  readonly random: Random;
  readonly voices: readonly string[];
  readonly number: number;
}

/** The two sides of a call, as loud as a telephone has them. */
export interface SpokenTracks {
  readonly inbound: Int16Array;
  readonly outbound: Int16Array;
}

/** A call that can be placed: who talks, and how it sounds. */
export interface SpokenCall {
  readonly from: string;
  readonly to: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly tracks: SpokenTracks;
  /** What came of it and what it is about. */
  readonly outcome: string;
  readonly tags: readonly string[];
  readonly note: string | null;
  readonly agentName: string;
}

/** Has the `number`th of the dialogues that {@link SPOKEN_TAGS} name spoken. */
export async function speakCall(url: string, { dialogues, random, voices, number }: SpeakOptions): Promise<SpokenCall> {
  const talks = dialogues.talks.filter(({ to, tags }) => to === null && tags.some((tag) => SPOKEN_TAGS.has(tag)));
  const talk = talks[number % talks.length];
  if (talk === undefined) throw new Error('expected dialogues that may be spoken, got none');
  const agent = pick(
    AGENTS.filter(({ queues }) => queues.includes(talk.queue)),
    random,
  );
  const caller = callerName(random);
  const about = details({ agent: agent.name, caller, at: systemClock.wall() }, random);
  const steps = talkSteps(dialogues, talk, about, random);
  const human = voices.filter((voice) => voice.includes(':'));
  const tracks = await speakSteps(url, steps, {
    agent: pick(human.length > 0 ? human : voices, random),
    caller: pick(voices, random),
  });
  const names = { inbound: caller, outbound: agent.name };
  return {
    from: callerNumber(random),
    to: '+353209100199',
    parameters: { ...parametersOf({ names, agent: agent.id, queue: talk.queue }), record: 'both' },
    tracks,
    outcome: pick(talk.outcomes, random),
    tags: talk.tags,
    note: talk.notes[0] ?? null,
    agentName: agent.name,
  };
}

async function speakSteps(
  url: string,
  steps: readonly Step[],
  voices: Readonly<Record<'agent' | 'caller', string>>,
): Promise<SpokenTracks> {
  const parts: { samples: Int16Array; track: keyof SpokenTracks; atMs: number }[] = [];
  let atMs = PAUSE_MS;
  for (const step of steps) {
    if (step.who !== 'agent' && step.who !== 'caller') continue;
    const samples = await speak(url, step.text, voices[step.who]);
    parts.push({ samples, track: step.who === 'agent' ? 'outbound' : 'inbound', atMs });
    atMs += (samples.length / MULAW_8K.rateHz) * 1000 + PAUSE_MS;
  }
  const length = msToSamples(Math.ceil(atMs), MULAW_8K.rateHz);
  const tracks: SpokenTracks = { inbound: new Int16Array(length), outbound: new Int16Array(length) };
  for (const { samples, track, atMs: at } of parts)
    tracks[track].set(samples.subarray(0, length), msToSamples(Math.round(at), MULAW_8K.rateHz));
  return tracks;
}

async function speak(url: string, input: string, voice: string): Promise<Int16Array> {
  const response = await fetch(`${url}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input, voice, response_format: 'wav' }),
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (!response.ok) throw new Error(`the gateway says nothing: ${Buffer.from(bytes).toString('utf8')}`);
  const { rateHz, channels } = readWav(bytes);
  const resampler = new Resampler(rateHz, MULAW_8K.rateHz);
  const [body, rest] = [resampler.push(mixDown(channels)), resampler.flush()];
  const joined = new Int16Array(body.length + rest.length);
  joined.set(body);
  joined.set(rest, body.length);
  return joined;
}

/** Places the call, in real time, and resolves with its id when it is over. */
export async function placeSpokenCall(url: string, authToken: string, call: SpokenCall): Promise<string> {
  const { from, to, tracks } = call;
  const callSid = `CA${randomUUID().replaceAll('-', '')}`;
  const voice = { url: `${url}/twilio/voice`, authToken, publicOrigin: '', callSid, from, to };
  const { url: streamUrl, parameters } = await askVoiceWebhook(voice);
  await placeCall({
    url: streamUrl,
    authToken,
    tracks,
    pace: 'realtime',
    clock: systemClock,
    callSid,
    parameters: { ...call.parameters, ...parameters },
  });
  return callSid;
}
