/** A call of `trunkline call` as a SIP phone places it. */
import { randomUUID } from 'node:crypto';
import { systemClock } from '../../foundation/clock.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { MULAW_8K, samplesToMs } from '../../foundation/units.ts';
import { spacingErrors } from '../../simulator/phone-media.ts';
import { type PhoneCall, type PhoneCallReport, RefusedError } from '../../simulator/sip-call.ts';
import { SipPhone } from '../../simulator/sip-phone.ts';
import { loadAudio } from '../audio-file.ts';
import type { CallOrder, CallOutcome, PlacedCall } from './order.ts';

const REQUEST_TIMEOUT = 408;
const ENDS: Readonly<Record<PhoneCallReport['endedBy'], string>> = {
  phone: 'by the phone',
  bridge: 'by the bridge',
  refused: 'refused',
};

/**
 * One call over UDP. What Twilio has as custom parameters, SIP has as headers `X-Trunkline-…`. @throws Error as
 * `PlaceCall` says
 */
export async function placeSipCall(order: CallOrder, settings: Settings): Promise<PlacedCall> {
  const uri = uriOf(order, settings);
  const [audio = new Int16Array(0)] = await loadAudio(order.wav, MULAW_8K.rateHz, 'mix');
  const callId = randomUUID();
  let call: PhoneCall | null = null;
  const run = async (): Promise<CallOutcome> => {
    const phone = await SipPhone.open({
      clock: systemClock,
      user: plainUser(order.from),
      password: settings.SIP_PASSWORD,
    });
    try {
      call = await phone.dial({
        uri,
        callId,
        audio,
        headers: Object.fromEntries(
          Object.entries(order.param).map(([name, value]) => [`X-Trunkline-${kebabCase(name)}`, value]),
        ),
        jitterMs: order.jitterMs,
        lossShare: order.loss,
        reorderShare: order.reorder,
        seed: order.seed,
        ...(order.dtmf === undefined ? {} : { dtmf: order.dtmf }),
      });
      await call.answered.catch((error: unknown) => {
        throw explainRefusal(error, uri);
      });
      return await outcomeOf(call, order);
    } finally {
      await phone.close();
    }
  };
  const durationMs = samplesToMs(audio.length, MULAW_8K.rateHz);
  return { id: callId, durationMs, sentMs: () => call?.media?.sentMs ?? 0, run, hangup: () => call?.hangup() };
}

/** A phone that hears nothing tells itself 408 (RFC 3261 §17.1.1.2), which reads as if the bridge had said so. */
export function explainRefusal(error: unknown, uri: string): unknown {
  if (!(error instanceof RefusedError) || error.status !== REQUEST_TIMEOUT) return error;
  return new Error(`the bridge did not take the call: nothing answered at ${uri}`);
}

function uriOf({ url, to }: CallOrder, { SIP_PORT }: Settings): string {
  if (url !== undefined) return url;
  if (SIP_PORT === 0)
    throw new Error('where is the bridge? Set SIP_PORT as it is set there, or say --url sip:user@address:port');
  return `sip:${plainUser(to)}@127.0.0.1:${SIP_PORT}`;
}

/** What needs no escaping in a SIP address (RFC 3261 §25.1, user-unreserved and unreserved). */
function plainUser(party: string): string {
  return party.replace(/[^A-Za-z0-9\-_.!~*'()&=+$,;?/]/g, '') || 'trunkline';
}

/** `bargeIn` → `Barge-In`. */
function kebabCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter}`).replace(/^./, (letter) => letter.toUpperCase());
}

async function outcomeOf(call: PhoneCall, { dropAfterMs }: CallOrder): Promise<CallOutcome> {
  const drop = dropAfterMs === undefined ? null : systemClock.after(dropAfterMs, () => call.vanish());
  const report = await call.ended.finally(() => drop?.cancel());
  const errors = spacingErrors(call.media?.heard ?? [], MULAW_8K.rateHz).sort((a, b) => a - b);
  const jitterP99Ms = errors[Math.floor(errors.length * 0.99)] ?? 0;
  const { packets, digits } = report.received;
  return {
    sentMs: report.sentMs,
    received:
      `${packets} packets of audio, off their time by ${jitterP99Ms.toFixed(1)} ms at p99` +
      (digits === '' ? '' : `, keys ${digits}`),
    ended: ENDS[report.endedBy],
    asOrdered: report.endedBy === 'phone',
    warnings: [],
    report: { ...report, jitterP99Ms },
  };
}
