/** The verb `queueMusic`: music, with an announcement now and then, until a server says that it is over. */
import { z } from 'zod';
import type { MonoAudio } from '../../speech/wav-leveller.ts';
import { conditionSchema } from '../file/conditions.ts';
import { nameSchema, promptSchema } from '../file/prompts.ts';
import { askServer, serverSchema } from './ask-server.ts';
import { checkRequest } from './check-server.ts';
import { durationMs, targetSchema } from './schemas.ts';
import { type StepExit, StepFailure, type StepTools } from './step.ts';
import { defineVerb, exit, wordsFor } from './verb.ts';

const EVERY_MS = 30_000;
const MAX_MS = 600_000;
/** How long music takes to fade before an announcement, and to come back after it. */
const FADE_MS = 400;
/** What is played at once: short music is put together, and of long pauses there is not too much in memory. */
const [STRETCH_MIN_MS, STRETCH_MAX_MS] = [1000, 60_000];

const schema = z.strictObject({
  recording: nameSchema,
  announce: promptSchema.optional(),
  everyMs: durationMs(600_000).optional().describe('30000'),
  maxMs: durationMs(7_200_000).optional().describe('600000'),
  poll: serverSchema.optional().describe('Asked before each announcement'),
  until: conditionSchema.optional().describe('Ends the wait when it is true after an answer of `poll`'),
  timedOut: targetSchema.optional(),
});
type QueueMusic = z.infer<typeof schema>;

/** Plays until `until` is true, or `maxMs` are over. A server that does not answer is asked again the next time. */
export const queueMusic = defineVerb({
  schema: schema.describe('Plays music while the caller waits'),
  takes: 'caller',
  exits: ({ timedOut }) => exit('timedOut', timedOut),
  prompts: ({ recording, announce }) => [['music', { recording }], ...wordsFor('announce', announce && [announce])],
  says: ({ recording }) => `♪ ${recording}`,
  check: (fields, path) => (fields.poll === undefined ? [] : checkRequest(fields.poll, [...path, 'poll'])),
  run: runQueueMusic,
});

async function runQueueMusic(fields: QueueMusic, tools: StepTools): Promise<StepExit> {
  const { recording, announce, everyMs = EVERY_MS, maxMs = MAX_MS, timedOut = null } = fields;
  const { call, language, recordings, variables } = tools;
  const sound = recordings.find(recording, language);
  if (sound === null || sound.samples.length === 0)
    throw new StepFailure(`there is no recording ${recording} for ${language}`);
  const { clock } = call.context;
  const beganMs = clock.nowMs();
  const music = new Music(sound);
  for (;;) {
    await poll(fields, tools);
    if (fields.until !== undefined && variables.isTrue(fields.until)) return null;
    const leftMs = maxMs - (clock.nowMs() - beganMs);
    if (leftMs <= 0) return timedOut;
    if (announce !== undefined) await tools.say(announce);
    for (let stillMs = Math.min(everyMs, leftMs); stillMs > 0; ) {
      const stretchMs = Math.max(Math.min(stillMs, STRETCH_MAX_MS), STRETCH_MIN_MS);
      await tools.play(music.next(stretchMs), recording);
      stillMs -= stretchMs;
    }
  }
}

async function poll({ poll: fields }: QueueMusic, tools: StepTools): Promise<void> {
  if (fields === undefined) return;
  try {
    await askServer(fields, tools);
  } catch (error) {
    if (!(error instanceof StepFailure) || tools.signal.aborted) throw error;
    tools.call.log.warn({ flow: tools.flow, step: tools.step, reason: error.message }, 'a queue could not be asked');
  }
}

/** A recording in a loop, in stretches that begin and end softly. */
export class Music {
  readonly #sound: MonoAudio;
  #at = 0;

  constructor(sound: MonoAudio) {
    this.#sound = sound;
  }

  /** The next stretch, from where the last one ended. */
  next(lengthMs: number): MonoAudio {
    const { samples: source, rateHz } = this.#sound;
    const samples = new Int16Array(Math.ceil((lengthMs * rateHz) / 1000));
    for (let filled = 0; filled < samples.length; ) {
      const part = source.subarray(this.#at, this.#at + samples.length - filled);
      samples.set(part, filled);
      filled += part.length;
      this.#at = (this.#at + part.length) % source.length;
    }
    const fade = Math.min((FADE_MS * rateHz) / 1000, samples.length / 2);
    for (let i = 0; i < fade; i++) {
      const last = samples.length - 1 - i;
      samples[i] = ((samples[i] ?? 0) * i) / fade;
      samples[last] = ((samples[last] ?? 0) * i) / fade;
    }
    return { samples, rateHz };
  }
}
