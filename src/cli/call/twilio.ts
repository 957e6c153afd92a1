/** A call of `trunkline call` as Twilio places it. */
import { randomUUID } from 'node:crypto';
import { systemClock } from '../../foundation/clock.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { MULAW_8K, samplesToMs } from '../../foundation/units.ts';
import { TwilioCaller } from '../../simulator/twilio-caller.ts';
import { askVoiceWebhook, type StreamOrder } from '../../simulator/twilio-webhook.ts';
import { loadAudio } from '../audio-file.ts';
import type { CallOrder, PlacedCall } from './order.ts';
import { outcomeOf } from './websocket-outcome.ts';

/** One call, to where the voice webhook says if there is one. @throws Error as `PlaceCall` says */
export async function placeTwilioCall(order: CallOrder, settings: Settings): Promise<PlacedCall> {
  const [inbound = new Int16Array(0)] = await loadAudio(order.wav, MULAW_8K.rateHz, 'mix');
  const [outbound] = order.both === undefined ? [] : await loadAudio(order.both, MULAW_8K.rateHz, 'mix');
  const callSid = `CA${randomUUID().replaceAll('-', '')}`;
  const stream = await orderStream(order, settings, callSid);
  const caller = new TwilioCaller({
    url: order.url ?? stream.url,
    tracks: outbound === undefined ? { inbound } : { inbound, outbound },
    pace: order.fast === true ? 'fast' : 'realtime',
    clock: systemClock,
    callSid,
    jitterMs: order.jitterMs,
    lossShare: order.loss,
    reorderShare: order.reorder,
    seed: order.seed,
    from: order.from,
    to: order.to,
    parameters: { ...stream.parameters, ...order.param },
    authToken: settings.TWILIO_AUTH_TOKEN,
    publicOrigin: settings.PUBLIC_URL,
    ...(order.dtmf === undefined ? {} : { dtmf: order.dtmf }),
    ...(order.dropAfterMs === undefined ? {} : { dropAtMs: order.dropAfterMs }),
  });
  return {
    id: callSid,
    durationMs: samplesToMs(Math.max(inbound.length, outbound?.length ?? 0), MULAW_8K.rateHz),
    sentMs: () => caller.sentMs,
    run: async () => outcomeOf(await caller.run(), order),
    hangup: () => caller.hangup(),
  };
}

/** Where the stream goes and what it brings: as the webhook says if there is one. */
function orderStream({ voice, from, to }: CallOrder, settings: Settings, callSid: string): Promise<StreamOrder> {
  if (voice === undefined)
    return Promise.resolve({ url: `ws://127.0.0.1:${settings.PORT}/twilio/media`, parameters: {} });
  return askVoiceWebhook({
    url: voice,
    authToken: settings.TWILIO_AUTH_TOKEN,
    publicOrigin: settings.PUBLIC_URL,
    callSid,
    from,
    to,
  });
}
