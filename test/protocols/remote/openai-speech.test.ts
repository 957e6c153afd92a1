import { describe, expect, it } from 'vitest';
import { wavHeader } from '../../../src/audio/encode.ts';
import { samplesToPcm16 } from '../../../src/audio/pcm.ts';
import { writeWav } from '../../../src/audio/wav.ts';
import { SpeechReader, speechRequest } from '../../../src/protocols/remote/openai-speech.ts';

const SOUND = Int16Array.from({ length: 500 }, (_, n) => n * 60 - 15_000);

/** All that is read of `bytes` when they come `size` at a time. */
function read(bytes: Uint8Array, size: number, rateHz: number | null): { samples: number[]; rates: number[] } {
  const reader = new SpeechReader(rateHz);
  const found = { samples: [] as number[], rates: [] as number[] };
  for (let from = 0; from < bytes.length; from += size) {
    const part = reader.push(bytes.subarray(from, from + size));
    if (part === null) continue;
    found.samples.push(...part.samples);
    found.rates.push(part.rateHz);
  }
  return { samples: found.samples, rates: [...new Set(found.rates)] };
}

describe('a request for speech', () => {
  it('asks for bare samples where their rate is known, else for a WAV file', () => {
    const order = { model: 'kokoro', text: 'Hi "there".', voice: 'af_heart', speed: 1.5, rateHz: 24_000 };
    expect(JSON.parse(speechRequest(order))).toEqual({
      model: 'kokoro',
      input: 'Hi "there".',
      voice: 'af_heart',
      response_format: 'pcm',
      speed: 1.5,
      stream_format: 'audio',
    });
    expect(JSON.parse(speechRequest({ ...order, model: '', speed: 1, rateHz: null }))).toEqual({
      input: 'Hi "there".',
      voice: 'af_heart',
      response_format: 'wav',
      stream_format: 'audio',
    });
  });
});

describe('the sound that comes', () => {
  it.each([1, 3, 44, 45, 1000])('is the same when %i bytes come at a time', (size) => {
    expect(read(samplesToPcm16(SOUND), size, 24_000)).toEqual({ samples: [...SOUND], rates: [24_000] });
    expect(read(writeWav([SOUND], 22_050), size, null)).toEqual({ samples: [...SOUND], rates: [22_050] });
  });

  it('may be a WAV file whose writer did not know its length', () => {
    const bytes = Buffer.concat([wavHeader(16_000, null), samplesToPcm16(SOUND)]);
    expect(read(bytes, 100, null)).toEqual({ samples: [...SOUND], rates: [16_000] });
  });

  it('may be a WAV file where bare samples were asked for', () => {
    expect(read(writeWav([SOUND], 44_100), 100, 24_000)).toEqual({ samples: [...SOUND], rates: [44_100] });
  });

  it('ends with its file, whatever comes behind', () => {
    const bytes = Buffer.concat([writeWav([SOUND], 16_000), Buffer.from('LIST and more')]);
    expect(read(bytes, 100, null).samples).toEqual([...SOUND]);
  });

  it('is of one channel of several', () => {
    expect(read(writeWav([SOUND, new Int16Array(500)], 16_000), 64, null).samples).toEqual([...SOUND]);
  });

  it.each(['ID3\u0004', '\u00ff\u00fb\u0090\u0064', 'OggS', 'fLaC', '{"error": "no"}', '<html>', ' <ht'])(
    'is none where it begins with %j',
    (head) => {
      expect(() => read(Buffer.from(head, 'latin1'), 100, 24_000)).toThrow('no sound that was asked for');
    },
  );

  it('is none where a WAV file was asked for and something else comes, or its header does not end', () => {
    expect(() => read(samplesToPcm16(SOUND), 100, null)).toThrow('no sound that was asked for');
    const endless = Buffer.concat([writeWav([SOUND], 16_000).subarray(0, 36), Buffer.alloc(70_000, 'junk')]);
    expect(() => read(endless, 1000, null)).toThrow();
  });
});
