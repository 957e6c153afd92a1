/** A line of Twilio's media streams, for scripted callers. */
import { randomUUID } from 'node:crypto';
import { systemClock } from '../../foundation/clock.ts';
import { Microphone } from '../../simulator/microphone.ts';
import { TwilioCaller } from '../../simulator/twilio-caller.ts';
import type { CallerLine, LineListener } from './line-caller.ts';

/** A test that lasts for longer has its line cut. */
const CALL_MAX_MS = 600_000;

/** Whom a line calls, and as whom. */
export interface LineCall {
  /** Of the gateway, `http:`. */
  readonly url: string;
  readonly from: string;
  readonly to: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Opens such a line. `callId` = how the call is named; a new name unless given. */
export function twilioLine(
  { url, from, to, parameters }: LineCall,
  callId = `CA${randomUUID().replaceAll('-', '')}`,
): CallerLine {
  const microphone = new Microphone(CALL_MAX_MS);
  let caller: TwilioCaller | null = null;
  return {
    callId,
    get sentMs() {
      return caller?.sentMs ?? 0;
    },
    speak: (samples, fromMs) => microphone.speak(samples, fromMs),
    press: (key) => caller?.sendDtmf(key),
    hangUp: () => caller?.hangup(),
    run: (listener: LineListener) => {
      caller = new TwilioCaller({
        url: `${url.replace(/^http/, 'ws')}/twilio/media`,
        tracks: { inbound: microphone.track },
        pace: 'realtime',
        clock: systemClock,
        callSid: callId,
        from,
        to,
        parameters,
        onAudio: (payload) => listener.onAudio(payload),
        onClear: () => listener.onClear(),
      });
      return caller.run();
    },
  };
}
