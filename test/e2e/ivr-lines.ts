/** Lines of other carriers than Twilio, for scripted callers. */
import { randomUUID } from 'node:crypto';
import { AsteriskCaller } from '../../src/carriers/asterisk/simulator/caller.ts';
import type { PhoneCall } from '../../src/carriers/sip/simulator/call.ts';
import { SipPhone } from '../../src/carriers/sip/simulator/phone.ts';
import type { CallerLine } from '../../src/cli/flow/line-caller.ts';
import { type LineCall, twilioLine } from '../../src/cli/flow/twilio-line.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { MULAW_8K } from '../../src/foundation/units.ts';
import { Microphone } from '../../src/simulator/microphone.ts';

const CALL_MAX_MS = 120_000;

/** Asterisk's chan_websocket. */
export function asteriskLine({ url, from, to, parameters }: LineCall): CallerLine {
  const microphone = new Microphone(CALL_MAX_MS);
  let onAudio: (payload: Uint8Array) => void = () => undefined;
  const variables = Object.entries({ from, to, ...parameters }).map(
    ([name, value]) => [`__TRUNKLINE_${name.toUpperCase()}`, value] as const,
  );
  const caller = new AsteriskCaller({
    url: `${url.replace(/^http/, 'ws')}/asterisk/media`,
    audio: microphone.track,
    codec: MULAW_8K,
    format: 'json',
    pace: 'realtime',
    clock: systemClock,
    variables: Object.fromEntries(variables),
    onAudio: (payload) => onAudio(payload),
  });
  return {
    callId: caller.channelId,
    get sentMs() {
      return caller.sentMs;
    },
    speak: (samples, fromMs) => microphone.speak(samples, fromMs),
    press: (key) => caller.press(key),
    hangUp: () => caller.hangup(),
    run: (listener) => {
      onAudio = (payload) => listener.onAudio(payload);
      return caller.run();
    },
  };
}

/** A SIP phone that calls the gateway's `port`. */
export function sipLine(port: number, { parameters }: LineCall): CallerLine {
  const microphone = new Microphone(CALL_MAX_MS);
  const callId = randomUUID();
  let call: PhoneCall | null = null;
  return {
    callId,
    get sentMs() {
      return call?.media?.sentMs ?? 0;
    },
    speak: (samples, fromMs) => microphone.speak(samples, fromMs),
    press: (key) => call?.press(key),
    hangUp: () => call?.hangup(),
    run: async (listener) => {
      const phone = await SipPhone.open({ clock: systemClock, user: 'caller' });
      try {
        call = await phone.dial({
          uri: `sip:bridge@127.0.0.1:${port}`,
          callId,
          audio: microphone.track,
          headers: Object.fromEntries(
            Object.entries(parameters).map(([name, value]) => [`X-Trunkline-${name}`, value]),
          ),
          onAudio: (payload) => listener.onAudio(payload),
        });
        await call.answered;
        return await call.ended;
      } finally {
        await phone.close();
      }
    },
  };
}

/** The phone of the page: it asks for its call, and then speaks as Twilio does. */
export async function browserLine({
  url,
  parameters: { flow = '', ...rest },
  from,
  to,
}: LineCall): Promise<CallerLine> {
  const response = await fetch(`${url}/v1/phone?flow=${encodeURIComponent(flow)}`, { method: 'POST' });
  const { callId, token } = (await response.json()) as { callId: string; token: string };
  return twilioLine({ url, from, to, parameters: { ...rest, token } }, callId);
}
