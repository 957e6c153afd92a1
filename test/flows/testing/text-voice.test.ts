import { describe, expect, it } from 'vitest';
import type { VoiceEvent } from '../../../src/calls/outbound/voice.ts';
import { TextVoice } from '../../../src/flows/testing/text-voice.ts';
import { VirtualClock } from '../../../src/foundation/virtual-clock.ts';

const open = (pace = 1) => {
  const clock = new VirtualClock();
  const voice = new TextVoice({ clock, pace });
  const events: string[] = [];
  voice.onEvent((event: VoiceEvent) => {
    if (event.type === 'speaking') events.push(`speaking ${event.utterance}`);
    if (event.type === 'spoken') events.push(`${event.interrupted ? 'cut' : 'spoken'} ${event.heardText}`);
  });
  return { clock, voice, events };
};

describe('a voice that is read', () => {
  it('says one text after the other, each for as long as it takes', async () => {
    const { clock, voice, events } = open();
    voice.say('One two.');
    voice.sayParts([
      { kind: 'text', text: 'Three' },
      { kind: 'pause', ms: 1000 },
      { kind: 'recording', text: 'four' },
    ]);
    clock.advance(8 * 60 - 1);
    expect(events).toEqual(['speaking u1']);
    clock.advance(2);
    expect(events).toEqual(['speaking u1', 'spoken One two.', 'speaking u2']);
    const drained = voice.drained();
    clock.advance(10_000);
    await drained;
    expect(events.at(-1)).toBe('spoken Three four');
    expect(voice.speaking).toBe(false);
  });

  it('is cut off by what may cut it off, in whole words, with all that waits', () => {
    const { clock, voice, events } = open();
    voice.say('one two three four', { interruptible: 'dtmf' });
    voice.say('five');
    clock.advance(9 * 60);
    voice.onCaller('speech');
    expect(events).toEqual(['speaking u1']);
    voice.onCaller('dtmf');
    expect(events).toEqual(['speaking u1', 'cut one two', 'cut ']);
    expect([voice.speaking, clock.pending]).toEqual([false, 0]);
  });

  it('says all at once where nobody waits for it', () => {
    const { clock, voice, events } = open(0);
    voice.play(new Int16Array(8), 8000, { label: 'tone' });
    voice.say('a');
    clock.advance(0);
    expect(events).toEqual(['speaking u1', 'spoken tone', 'speaking u2', 'spoken a']);
  });
});
