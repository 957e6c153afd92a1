import { describe, expect, it } from 'vitest';
import { joinVoices } from '../../../engine/models/joined-voices.ts';
import type { Line, Sound, Tts } from '../../../engine/models/model.ts';
import { speakWhole } from '../../../engine/models/speak-whole.ts';
import type { Steps } from '../../../engine/scheduler.ts';
import { FAKE_VOICE } from '../../fakes/voices.ts';
import { finish } from '../speech.ts';

function synthesizer(name: string, voices: readonly string[], runs: number): Tts {
  return {
    name,
    voices: voices.map((voice) => ({ ...FAKE_VOICE, name: voice, rateHz: runs })),
    async *speak({ text }: Line): Steps<Sound> {
      for (let run = 1; run < runs; run++) yield;
      return { samples: new Int16Array(text.length), rateHz: runs };
    },
  };
}

describe('joinVoices', () => {
  const joined = joinVoices([synthesizer('first-1', ['a', 'b'], 1), synthesizer('second-2', ['c'], 3)]);

  it('has the names and voices of all', () => {
    expect(joined.name).toBe('first-1+second-2');
    expect(joined.voices.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  });

  it('speaks with the synthesizer of the voice, step by step', async () => {
    const line = { text: 'four', speed: 1 };
    expect(await finish(speakWhole(joined, { ...line, voice: 'b' }))).toEqual({
      result: { samples: new Int16Array(4), rateHz: 1 },
      runs: 1,
    });
    expect(await finish(speakWhole(joined, { ...line, voice: 'c' }))).toEqual({
      result: { samples: new Int16Array(4), rateHz: 3 },
      runs: 3,
    });
  });

  it('fails for a voice that none of them has', async () => {
    await expect(finish(speakWhole(joined, { text: 'x', voice: 'd', speed: 1 }))).rejects.toThrow(
      'there is no voice d',
    );
  });
});
