/** The check of `trunkline doctor` for the servers of ASR_URL and TTS_URL: each is asked for a word of speech. */
import { ENGINE_RATE_HZ } from '../../engine/contract.ts';
import { openRecognisers, openSpeakers } from '../engine-client/remote/open-members.ts';
import { RemoteError, type RemoteFailure, type RemoteRecogniser } from '../engine-client/remote/remote-recogniser.ts';
import type { RemoteSpeaker } from '../engine-client/remote/remote-speaker.ts';
import { type Clock, systemClock } from '../foundation/clock.ts';
import type { Finding } from '../foundation/finding.ts';
import { packagePath } from '../foundation/folders/paths.ts';
import { createLog } from '../foundation/log/log.ts';
import { Metrics } from '../foundation/metrics.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { samplesToMs } from '../foundation/units.ts';
import { findTextFault } from '../protocols/remote/text-faults.ts';
import { loadAudio } from './audio-file.ts';

/** A server may have to load its model for the first answer. */
const ANSWER_MAX_MS = 60_000;

const REMEDIES: Readonly<Record<RemoteFailure, string>> = {
  busy: 'it has too much to do: try again, or name another one',
  refused: 'look at its log, and at the key, the model and the path of the URL',
  failed: 'is it running, and can it be reached from here?',
  unusable: 'is it a server for speech, and the path of the URL right?',
};

const UNHEARD = 'these are not its words; look at its log, is its model one for this language, and loaded whole?';

type RemoteSettings = Pick<
  Settings,
  'ASR_URL' | 'ASR_API_KEY' | 'ASR_URL_MODEL' | 'TTS_URL' | 'TTS_API_KEY' | 'TTS_URL_MODEL'
>;

/** What each server makes of a sentence, and how long it takes. */
export async function checkRemotes(settings: RemoteSettings, clock: Clock = systemClock): Promise<Finding[]> {
  return [...(await checkRecognisers(settings, clock)), ...(await checkSpeakers(settings, clock))];
}

async function checkRecognisers(settings: RemoteSettings, clock: Clock): Promise<Finding[]> {
  const opened = openRecognisers(settings);
  if (opened.length === 0) return [];
  const file = packagePath('fixtures', 'audio', 'short.wav');
  const [samples = new Int16Array(0)] = await loadAudio(file, ENGINE_RATE_HZ, 'mix');
  return Promise.all(opened.map(({ name, recogniser }) => checkRemote(name, { recogniser, samples, clock })));
}

interface Question {
  readonly recogniser: RemoteRecogniser;
  readonly samples: Int16Array;
  readonly clock: Clock;
}

/** Asks twice, for the first answer says how long its model takes to load. */
async function checkRemote(server: string, { recogniser, samples, clock }: Question): Promise<Finding> {
  const late = new AbortController();
  const timer = clock.after(ANSWER_MAX_MS, () => late.abort());
  const name = 'asr server';
  try {
    const startMs = clock.nowMs();
    await recogniser.recognise({ samples, urgency: 'final', signal: late.signal });
    const warmMs = clock.nowMs();
    const { text } = await recogniser.recognise({ samples, urgency: 'final', signal: late.signal });
    const [firstMs, tookMs] = [warmMs - startMs, clock.nowMs() - warmMs].map(Math.round);
    const speech = `${(samples.length / ENGINE_RATE_HZ).toFixed(1)} s of speech in ${tookMs} ms`;
    const heard = `the first time in ${firstMs} ms: ${JSON.stringify(text)}`;
    const isHeard = findTextFault(text, samples.length) === null;
    if (isHeard) return { name, status: 'ok', detail: `${server} read ${speech}, ${heard}` };
    return { name, status: 'fail', detail: `${server} read ${speech}, ${heard}: ${UNHEARD}` };
  } catch (error) {
    return { name, status: 'fail', detail: `${server}: ${explain(error, late.signal)}` };
  } finally {
    timer.cancel();
    recogniser.close();
  }
}

async function checkSpeakers(settings: RemoteSettings, clock: Clock): Promise<Finding[]> {
  const speakers = openSpeakers(settings, { clock, log: createLog('silent'), metrics: new Metrics() });
  return Promise.all(speakers.map((speaker) => checkSpeaker(speaker, clock)));
}

async function checkSpeaker(speaker: RemoteSpeaker, clock: Clock): Promise<Finding> {
  const late = new AbortController();
  const timer = clock.after(ANSWER_MAX_MS, () => late.abort());
  const name = 'tts server';
  const [voice = { name: '' }] = speaker.voices;
  const line = { text: 'Hello.', voice: voice.name, speed: 1, urgency: 'speak', dueInMs: ANSWER_MAX_MS } as const;
  let soundMs = 0;
  const onSound = (samples: Int16Array, rateHz: number): void => {
    soundMs += samplesToMs(samples.length, rateHz);
  };
  try {
    const { cost } = await speaker.speak(line, { signal: late.signal, lateMs: ANSWER_MAX_MS, onSound });
    const tookMs = Math.round(cost.waitMs + cost.runMs);
    const spoken = `${voice.name} of ${speaker.name} spoke ${Math.round(soundMs)} ms of audio in ${tookMs} ms`;
    return { name, status: 'ok', detail: `${spoken}, and began after ${Math.round(cost.waitMs)} ms` };
  } catch (error) {
    return { name, status: 'fail', detail: `${speaker.name}: ${explain(error, late.signal)}` };
  } finally {
    timer.cancel();
    speaker.close();
  }
}

function explain(error: unknown, late: AbortSignal): string {
  if (late.aborted) return `no answer within ${ANSWER_MAX_MS / 1000} s`;
  if (error instanceof RemoteError) return `${error.message}: ${REMEDIES[error.failure]}`;
  return error instanceof Error ? error.message : String(error);
}
