/** A call of `trunkline call` as a SIP phone places it. */
import { randomUUID } from 'node:crypto';
import { type PhoneCall, type PhoneCallReport, RefusedError } from '../../carriers/sip/simulator/call.ts';
import { SipPhone } from '../../carriers/sip/simulator/phone.ts';
import { spacingErrors } from '../../carriers/sip/simulator/phone-media.ts';
import { RTP_FORMATS } from '../../carriers/sip/wire/rtp-codecs.ts';
import { isTlsUri } from '../../carriers/sip/wire/uris.ts';
import { systemClock } from '../../foundation/clock.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { samplesToMs } from '../../foundation/units.ts';
import { loadAudio } from '../audio-file.ts';
import type { CallOptions, CallOutcome, PlacedCall } from './call-options.ts';
import { phoneTls } from './sip-phone-tls.ts';

const REQUEST_TIMEOUT = 408;
const TIMED_OUT = 'Request Timeout';
const ENDS: Readonly<Record<PhoneCallReport['endedBy'], string>> = {
  phone: 'by the phone',
  bridge: 'by the server',
  refused: 'refused',
};

/**
 * One call over UDP or TLS. What Twilio has as custom parameters, SIP has as headers `X-Trunkline-…`. @throws Error as
 * `PlaceCall` says
 */
export async function placeSipCall(options: CallOptions, settings: Settings): Promise<PlacedCall> {
  const uri = uriOf(options, settings);
  const isTls = isTlsUri(uri);
  const tls = isTls ? phoneTls(settings) : undefined;
  const format = RTP_FORMATS[options.codec ?? 'mulaw'];
  const { rateHz } = format.codec;
  const [audio = new Int16Array(0)] = await loadAudio(options.wav, rateHz, 'mix');
  const callId = randomUUID();
  let call: PhoneCall | null = null;
  const run = async (): Promise<CallOutcome> => {
    const phone = await SipPhone.open({
      clock: systemClock,
      user: plainUser(options.from),
      password: settings.SIP_PASSWORD,
      ...(tls === undefined ? {} : { tls }),
    });
    try {
      call = await phone.dial({
        uri,
        callId,
        audio,
        codec: format.name,
        srtp: options.srtp ?? (settings.SIP_SRTP === 'require' || (isTls && settings.SIP_SRTP !== 'off')),
        headers: Object.fromEntries(
          Object.entries(options.param).map(([name, value]) => [`X-Trunkline-${kebabCase(name)}`, value]),
        ),
        jitterMs: options.jitterMs,
        lossShare: options.loss,
        reorderShare: options.reorder,
        seed: options.seed,
        ...(options.dtmf === undefined ? {} : { dtmf: options.dtmf }),
      });
      await call.answered.catch((error: unknown) => {
        throw explainRefusal(error, uri);
      });
      return await outcomeOf(call, options);
    } finally {
      await phone.close();
    }
  };
  const durationMs = samplesToMs(audio.length, rateHz);
  return { id: callId, durationMs, sentMs: () => call?.media?.sentMs ?? 0, run, hangup: () => call?.hangup() };
}

/**
 * A phone that hears nothing, or has no connection, tells itself 408 (RFC 3261 §17.1.1.2), which reads as if the server
 * had said so.
 */
export function explainRefusal(error: unknown, uri: string): unknown {
  if (!(error instanceof RefusedError) || error.status !== REQUEST_TIMEOUT) return error;
  const code = error.words === TIMED_OUT || error.words === '' ? '' : ` (${error.words})`;
  return new Error(`the server did not accept the call: nothing answered at ${uri}${code}`);
}

function uriOf({ url, to }: CallOptions, { SIP_PORT, SIP_TLS_PORT }: Settings): string {
  if (url !== undefined) return url;
  if (SIP_PORT !== 0) return `sip:${plainUser(to)}@127.0.0.1:${SIP_PORT}`;
  if (SIP_TLS_PORT !== 0) return `sip:${plainUser(to)}@127.0.0.1:${SIP_TLS_PORT};transport=tls`;
  throw new Error('set SIP_PORT or SIP_TLS_PORT as the server has it, or give --url sip:user@host:port');
}

/** What needs no escaping in a SIP address (RFC 3261 §25.1, user-unreserved and unreserved). */
function plainUser(party: string): string {
  return party.replace(/[^A-Za-z0-9\-_.!~*'()&=+$,;?/]/g, '') || 'trunkline';
}

/** `bargeIn` → `Barge-In`. */
function kebabCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter}`).replace(/^./, (letter) => letter.toUpperCase());
}

async function outcomeOf(call: PhoneCall, { dropAfterMs }: CallOptions): Promise<CallOutcome> {
  const drop = dropAfterMs === undefined ? null : systemClock.after(dropAfterMs, () => call.vanish());
  const report = await call.ended.finally(() => drop?.cancel());
  const errors = spacingErrors(call.media?.packets ?? [], call.media?.format.clockHz ?? 1).sort((a, b) => a - b);
  const jitterP99Ms = errors[Math.floor(errors.length * 0.99)] ?? 0;
  const { packets, digits } = report.received;
  return {
    sentMs: report.sentMs,
    received:
      `${packets} packets of audio, off their time by ${jitterP99Ms.toFixed(1)} ms at p99` +
      (digits === '' ? '' : `, keys ${digits}`),
    ended: ENDS[report.endedBy],
    asPlanned: report.endedBy === 'phone',
    warnings: [],
    report: { ...report, jitterP99Ms },
  };
}
