import { describe, expect, it } from 'vitest';
import { fliteVoices } from '../../../engine/models/flite.ts';
import { speakWhole } from '../../../engine/models/speak-whole.ts';
import { toneAsr } from '../../../engine/models/tone.ts';
import { toneHzOf, toneTts } from '../../../engine/models/tone-tts.ts';
import { finish } from '../speech.ts';

const say = async (text: string, voice = 'rms', speed = 1) =>
  (await finish(speakWhole(toneTts, { text, voice, speed }))).result;

describe('the pretend voices', () => {
  it('have the names and rates of the real ones', async () => {
    expect(toneTts.voices).toEqual(fliteVoices('tone-1'));
    expect((await say('hello', 'kal')).rateHz).toBe(8000);
  });

  it('take 20 ms for each character, less at a higher speed', async () => {
    const text = 'twenty characters...';
    expect((await say(text)).samples).toHaveLength(0.4 * 16_000);
    expect((await say(text, 'rms', 2)).samples).toHaveLength(0.2 * 16_000);
  });

  it('say the same text alike and different texts at different heights', async () => {
    expect((await say('hello')).samples).toEqual((await say('hello')).samples);
    expect(new Set(['one', 'two', 'three', 'four', 'five'].map(toneHzOf)).size).toBeGreaterThan(2);
  });

  it('can be told apart by the pretend recogniser', async () => {
    const heard = async (text: string) => (await finish(toneAsr.transcribe((await say(text)).samples, []))).result.text;
    const words = await Promise.all(['How can I help?', 'Thank you for calling.', 'Goodbye.'].map(heard));
    expect(new Set(words.flatMap((line) => line.split(' '))).size).toBe(3);
  });

  it.each(['', '...', ' \n'])('say nothing for %j', async (text) => {
    expect((await say(text)).samples).toHaveLength(0);
  });
});
