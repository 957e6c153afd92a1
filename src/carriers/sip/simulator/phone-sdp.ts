/** Session descriptions as a simple phone writes and reads them (RFC 8866): one stream of one codec, and keys. */
import type { RtpFormat } from '../wire/rtp-codecs.ts';
import type { PhoneAgreement } from './phone-media.ts';
import { cryptoLine, type PhoneKey, readPhoneKey } from './phone-srtp.ts';

const EVENT_TYPE = 101;

/** How a phone holds a call: by direction, or as old ones do by an address that nobody has. */
export type Hold = 'sendonly' | 'inactive' | 'nowhere';

/** The phone's side. */
export interface PhoneDescription {
  readonly address: string;
  readonly port: number;
  readonly format: RtpFormat;
  readonly ptimeMs: number;
  readonly version: number;
  /** null = not held. */
  readonly hold: Hold | null;
  /** null = packets are not secured. */
  readonly srtpKey: PhoneKey | null;
}

/** An offer, or an answer. */
export function describe({ address, port, format, ptimeMs, version, hold, srtpKey }: PhoneDescription): string {
  const { payloadType } = format;
  const kind = address.includes(':') ? 'IP6' : 'IP4';
  return [
    'v=0',
    `o=phone ${port} ${version} IN ${kind} ${address}`,
    's=call',
    `c=IN ${hold === 'nowhere' ? 'IP4 0.0.0.0' : `${kind} ${address}`}`,
    't=0 0',
    `m=audio ${port} ${srtpKey === null ? 'RTP/AVP' : 'RTP/SAVP'} ${payloadType} ${EVENT_TYPE}`,
    `a=rtpmap:${payloadType} ${mapOf(format)}`,
    ...(format.name === 'opus' ? [`a=fmtp:${payloadType} useinbandfec=1`] : []),
    `a=rtpmap:${EVENT_TYPE} telephone-event/8000`,
    `a=fmtp:${EVENT_TYPE} 0-15`,
    ...(srtpKey === null ? [] : [cryptoLine(srtpKey)]),
    `a=ptime:${ptimeMs}`,
    `a=${hold === 'sendonly' || hold === 'inactive' ? hold : 'sendrecv'}`,
    '',
  ].join('\r\n');
}

/**
 * What the other side's description agrees to, under its own payload numbers.
 * @throws Error when it has no stream of the codec
 */
export function readAgreement(sdp: string, format: RtpFormat): PhoneAgreement {
  const address = /^c=IN IP[46] (\S+)/m.exec(sdp)?.[1];
  const [, port, formats] = /^m=audio (\d+) RTP\/S?AVP (.*)$/m.exec(sdp) ?? [];
  const numbers = formats?.trim().split(' ') ?? [];
  const mapped = (map: string) => new RegExp(`^a=rtpmap:(\\d+) ${map}`, 'im').exec(sdp)?.[1];
  const payloadType = mapped(mapOf(format)) ?? String(format.payloadType);
  if (address === undefined || port === undefined || Number(port) === 0 || !numbers.includes(payloadType)) {
    throw new Error(`the server agreed to no ${format.encoding}`);
  }
  const eventType = mapped('telephone-event/8000');
  return {
    to: { address, port: Number(port) },
    payloadType: Number(payloadType),
    eventType: eventType === undefined ? null : Number(eventType),
    srtpKey: readPhoneKey(sdp),
    receives: !/^a=(sendonly|inactive)/m.test(sdp),
  };
}

function mapOf({ encoding, clockHz, mapChannels }: RtpFormat): string {
  return `${encoding}/${clockHz}${mapChannels === null ? '' : `/${mapChannels}`}`;
}
