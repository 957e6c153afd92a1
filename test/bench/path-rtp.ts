/** What the sound of SIP calls costs beyond that of a Twilio call: encryption and wideband codecs, packet by packet. */
import { createCipheriv, createHmac, createSecretKey, randomBytes } from 'node:crypto';
import { makeSrtpKeys } from '../../src/carriers/sip/wire/crypto-lines.ts';
import { writeRtp } from '../../src/carriers/sip/wire/rtp/packet.ts';
import { payloadDecoder, payloadEncoder } from '../../src/carriers/sip/wire/rtp/payload-codecs.ts';
import { SrtpReceiver, SrtpSender } from '../../src/carriers/sip/wire/rtp/srtp.ts';
import { RTP_FORMATS, type RtpCodecName } from '../../src/carriers/sip/wire/rtp-codecs.ts';
import { figure, type Table } from './report.ts';

const CIPHER_KEY_BYTES = 16;
const AUTH_KEY_BYTES = 20;
const BLOCK_BYTES = 16;
const WRAPS = new Uint8Array(4);
/** A phone's Opus makes up for lost packets. */
const PARAMETERS = new Map([['useinbandfec', '1']]);

/** The mean time of `work` on each of `inputs`, in µs. */
export function perFrameUs<T>(inputs: readonly T[], work: (input: T, index: number) => void): number {
  const startedMs = performance.now();
  for (const [index, input] of inputs.entries()) work(input, index);
  return ((performance.now() - startedMs) * 1000) / inputs.length;
}

/** Speech in frames of 20 ms. */
interface SpeechFrames {
  /** µ-law. */
  readonly narrow: readonly Uint8Array[];
  /** Samples at 16 kHz, one frame or none each. */
  readonly wide: readonly Int16Array[];
}

/** The figures of a packet of 20 ms in one direction. */
export function rtpTable({ narrow, wide }: SpeechFrames): Table {
  return {
    title: 'SIP calls: one packet of 20 ms, one direction',
    heads: ['stage', 'µs', "floor: Node's cryptography alone, µs", 'times the floor'],
    rows: [...srtpRows(narrow), ...codecRows('g722', wide), ...codecRows('opus', wide)],
  };
}

type Row = readonly [stage: string, microseconds: string, floor: string, ratio: string];

function srtpRows(frames: readonly Uint8Array[]): Row[] {
  const [key] = makeSrtpKeys(randomBytes);
  if (key === undefined) throw new Error('there is no suite of SRTP');
  const [sender, receiver] = [new SrtpSender(key), new SrtpReceiver(key)];
  const packets = frames.map((payload, sequence) =>
    writeRtp({ marker: false, payloadType: 0, sequence: sequence & 0xffff, timestamp: 0, ssrc: 1, payload }),
  );
  const sealed: Uint8Array[] = [];
  const floorUs = cryptographyUs(packets);
  const row = (stage: string, us: number): Row => [stage, figure(us, 2), figure(floorUs, 2), figure(us / floorUs, 1)];
  return [
    row(
      `SRTP (${key.suite}): secure a packet of µ-law`,
      perFrameUs(packets, (packet) => void sealed.push(sender.protect(packet))),
    ),
    row(
      `SRTP (${key.suite}): open it`,
      perFrameUs(sealed, (packet) => void receiver.open(packet)),
    ),
  ];
}

/** The key stream of each packet and its tag, and nothing else. */
function cryptographyUs(packets: readonly Uint8Array[]): number {
  const cipher = createCipheriv('aes-128-ecb', randomBytes(CIPHER_KEY_BYTES), null).setAutoPadding(false);
  const authentication = createSecretKey(randomBytes(AUTH_KEY_BYTES));
  return perFrameUs(packets, (packet) => {
    cipher.update(packet.subarray(0, packet.length - (packet.length % BLOCK_BYTES)));
    createHmac('sha1', authentication).update(packet).update(WRAPS).digest();
  });
}

function codecRows(name: RtpCodecName, frames: readonly Int16Array[]): Row[] {
  const format = RTP_FORMATS[name];
  const encoder = payloadEncoder(format, PARAMETERS);
  const decoder = payloadDecoder(format);
  const payloads: Uint8Array[] = [];
  const encodeUs = perFrameUs(frames, (samples) => void payloads.push(encoder.encode(samples)));
  const decodeUs = perFrameUs(payloads, (payload) => void decoder.decode(payload));
  encoder.close();
  decoder.close();
  return [
    [`${format.encoding}: encode`, figure(encodeUs, 2), '–', '–'],
    [`${format.encoding}: decode`, figure(decodeUs, 2), '–', '–'],
  ];
}
