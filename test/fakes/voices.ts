import { ENGINE_RATE_HZ, type VoiceInfo } from '../../engine/contract.ts';

/** A voice of the {@link FakeEngine}; others are made from it. */
export const FAKE_VOICE: VoiceInfo = Object.freeze({
  name: 'rms',
  language: 'en-US',
  rateHz: ENGINE_RATE_HZ,
  model: 'fake-tts-1',
  licence: 'none',
  cost: 0.02,
});
