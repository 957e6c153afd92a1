/**
 * The phones of a load benchmark, in a process of their own so that their work is not counted as the gateway's:
 * `tsx callers.ts <gateway url> <calls> <seconds> [silent]` places that many simulated calls at once in real time and ends when they have ended.
 */
import { systemClock } from '../../src/clock.ts';
import { placeCall } from '../../src/simulator/twilio-caller.ts';
import { conversation, loadPrompts } from './prompts.ts';

const SPEECH_SHARE = 0.45;
/** Calls begin this far apart, so that their frames and windows do not fall together. */
const STAGGER_MS = 137;

const [url = '', calls = '1', seconds = '30', mode = 'speech'] = process.argv.slice(2);
const prompts = mode === 'silent' ? [] : loadPrompts();

await Promise.all(
  Array.from({ length: Number(calls) }, async (_, index) => {
    await new Promise<void>((resolve) => {
      systemClock.after(index * STAGGER_MS, resolve);
    });
    const inbound = conversation(prompts, Number(seconds), SPEECH_SHARE, 1000 + index);
    await placeCall({ url: `${url.replace(/^http/, 'ws')}/twilio/media`, tracks: { inbound }, pace: 'realtime', clock: systemClock });
  }),
);
