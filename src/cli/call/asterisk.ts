/** A call of `trunkline call` as an Asterisk's chan_websocket places it. */

import { AsteriskCaller } from '../../carriers/asterisk/simulator/caller.ts';
import { systemClock } from '../../foundation/clock.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { type Codec, samplesToMs } from '../../foundation/units.ts';
import { loadAudio } from '../audio-file.ts';
import { originOn } from '../server-client.ts';
import type { CallOptions, PlacedCall } from './call-options.ts';
import { outcomeOf } from './websocket-outcome.ts';

/** `slin16`: what our dialplans ask for. */
const LINEAR_16K: Codec = { name: 'pcm16', rateHz: 16_000, channels: 1, bytesPerSample: 2 };

/**
 * One call. What Twilio has as custom parameters, Asterisk has as channel variables. @throws Error as `PlaceCall` says
 */
export async function placeAsteriskCall(options: CallOptions, settings: Settings): Promise<PlacedCall> {
  const [audio = new Int16Array(0)] = await loadAudio(options.wav, LINEAR_16K.rateHz, 'mix');
  const parameters = Object.entries({ from: options.from, to: options.to, ...options.param });
  const caller = new AsteriskCaller({
    url: options.url ?? `${originOn('127.0.0.1', settings).replace(/^http/, 'ws')}/asterisk/media`,
    audio,
    codec: LINEAR_16K,
    format: options.plainText === true ? 'plain-text' : 'json',
    pace: options.fast === true ? 'fast' : 'realtime',
    clock: systemClock,
    variables: Object.fromEntries(parameters.map(([name, value]) => [`__TRUNKLINE_${snakeCase(name)}`, value])),
    lossShare: options.loss,
    seed: options.seed,
    user: settings.ASTERISK_USER,
    ...(settings.ASTERISK_PASSWORD === '' ? {} : { password: settings.ASTERISK_PASSWORD }),
    ...(options.dtmf === undefined ? {} : { dtmf: options.dtmf }),
    ...(options.dropAfterMs === undefined ? {} : { dropAtMs: options.dropAfterMs }),
  });
  return {
    id: caller.channelId,
    durationMs: samplesToMs(audio.length, LINEAR_16K.rateHz),
    sentMs: () => caller.sentMs,
    run: async () => outcomeOf(await caller.run(), options),
    hangup: () => caller.hangup(),
  };
}

/** `bargeIn` → `BARGE_IN`. */
function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}
