/** A call of `trunkline call` as Twilio places it. */
import { randomUUID } from 'node:crypto';
import { systemClock } from '../../foundation/clock.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { MULAW_8K, samplesToMs } from '../../foundation/units.ts';
import { TwilioCaller } from '../../simulator/twilio-caller.ts';
import { askVoiceWebhook, type StreamOrder } from '../../simulator/twilio-webhook.ts';
import { loadAudio } from '../audio-file.ts';
import { originOn } from '../server-client.ts';
import type { CallOptions, PlacedCall } from './call-options.ts';
import { outcomeOf } from './websocket-outcome.ts';

/** One call, to where the voice webhook says if there is one. @throws Error as `PlaceCall` says */
export async function placeTwilioCall(options: CallOptions, settings: Settings): Promise<PlacedCall> {
  const [inbound = new Int16Array(0)] = await loadAudio(options.wav, MULAW_8K.rateHz, 'mix');
  const [outbound] = options.both === undefined ? [] : await loadAudio(options.both, MULAW_8K.rateHz, 'mix');
  const callSid = `CA${randomUUID().replaceAll('-', '')}`;
  const stream = await orderStream(options, settings, callSid);
  const caller = new TwilioCaller({
    url: options.url ?? stream.url,
    tracks: outbound === undefined ? { inbound } : { inbound, outbound },
    pace: options.fast === true ? 'fast' : 'realtime',
    clock: systemClock,
    callSid,
    jitterMs: options.jitterMs,
    lossShare: options.loss,
    reorderShare: options.reorder,
    seed: options.seed,
    from: options.from,
    to: options.to,
    parameters: { ...stream.parameters, ...options.param },
    authToken: settings.TWILIO_AUTH_TOKEN,
    publicOrigin: settings.PUBLIC_URL,
    ...(options.dtmf === undefined ? {} : { dtmf: options.dtmf }),
    ...(options.dropAfterMs === undefined ? {} : { dropAtMs: options.dropAfterMs }),
  });
  return {
    id: callSid,
    durationMs: samplesToMs(Math.max(inbound.length, outbound?.length ?? 0), MULAW_8K.rateHz),
    sentMs: () => caller.sentMs,
    run: async () => outcomeOf(await caller.run(), options),
    hangup: () => caller.hangup(),
  };
}

/** Where the stream goes and what it brings: as the webhook says if there is one. */
function orderStream({ voice, from, to }: CallOptions, settings: Settings, callSid: string): Promise<StreamOrder> {
  if (voice === undefined)
    return Promise.resolve({
      url: `${originOn('127.0.0.1', settings).replace(/^http/, 'ws')}/twilio/media`,
      parameters: {},
    });
  return askVoiceWebhook({
    url: voice,
    authToken: settings.TWILIO_AUTH_TOKEN,
    publicOrigin: settings.PUBLIC_URL,
    callSid,
    from,
    to,
  });
}
