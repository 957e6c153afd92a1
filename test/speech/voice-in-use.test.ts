import { expect, it } from 'vitest';
import type { VoiceInfo } from '../../engine/contract.ts';
import { voiceInUse } from '../../src/speech/voice-in-use.ts';

it('is the first voice, or the one of DEFAULT_VOICE by any of its names', () => {
  const voices = ['hibari:heart', 'rms', 'slt'].map((name) => ({ name }) as VoiceInfo);
  expect(voiceInUse({ DEFAULT_VOICE: '', VOICE_MAP: [] }, [])).toBeNull();
  expect(voiceInUse({ DEFAULT_VOICE: '', VOICE_MAP: [] }, voices)).toBe('hibari:heart');
  expect(voiceInUse({ DEFAULT_VOICE: 'SLT', VOICE_MAP: [] }, voices)).toBe('slt');
  expect(voiceInUse({ DEFAULT_VOICE: 'Joanna', VOICE_MAP: ['Joanna=rms'] }, voices)).toBe('rms');
  expect(voiceInUse({ DEFAULT_VOICE: 'nobody', VOICE_MAP: [] }, voices)).toBeNull();
});
