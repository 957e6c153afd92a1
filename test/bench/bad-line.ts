/** A bad line: what arrives in a call of RTP packets that get lost or overtake one another. */
import { decodeG711, encodeG711 } from '../../src/audio/g711.ts';
import { Timeline } from '../../src/audio/timeline.ts';
import { RtpReceiver } from '../../src/carriers/sip/rtp/receiver.ts';
import { RTP_FORMATS } from '../../src/carriers/sip/wire/rtp-codecs.ts';
import { CONSTANTS } from '../../src/foundation/settings/constants.ts';
import { FRAME_MS, MULAW_8K, msToSamples } from '../../src/foundation/units.ts';
import { LINE_RATE_HZ, uniform } from '../helpers/signals.ts';
import { concatenate } from './prompts.ts';

const FRAME_SAMPLES = msToSamples(FRAME_MS, LINE_RATE_HZ);
/** How long a call waits for a packet that is overtaken. */
export const REORDER_MS = CONSTANTS.REORDER_MS;
const GAP_MAX_MS = CONSTANTS.GAP_MAX_MS;

/**
 * A line: shares of packets lost and overtaken, how many are lost in a row, and whether what is lost is concealed or
 * left silent.
 */
export interface BadLine {
  readonly title: string;
  readonly lossShare: number;
  readonly reorderShare: number;
  readonly burst: number;
  readonly silent?: true;
}

/**
 * What arrives in a call of `samples` (8 kHz) that were sent over `line`; which packets suffer depends on how many
 * there are.
 */
export function overLine(samples: Int16Array, line: BadLine): Int16Array {
  const received: Int16Array[] = [];
  const timeline = new Timeline({ rateHz: LINE_RATE_HZ, reorderMs: REORDER_MS, gapMaxMs: GAP_MAX_MS });
  const remote = {
    address: '',
    port: 0,
    rtcpPort: null,
    payloadType: 0,
    format: RTP_FORMATS.mulaw,
    parameters: new Map(),
    ptimeMs: FRAME_MS,
    events: null,
    comfortNoise: false,
    srtp: null,
  };
  const receiver = new RtpReceiver({
    codec: MULAW_8K,
    remote: { ...remote, sends: true, receives: true },
    listener: {
      receiveAudio: ({ bytes, atMs, sequence }) =>
        received.push(...timeline.push({ samples: decodeG711(bytes, MULAW_8K), atMs, sequence })),
      receiveDigit: () => undefined,
    },
    counter: { count: () => undefined },
  });
  for (const index of arrivals(Math.floor(samples.length / FRAME_SAMPLES), line, samples.length)) {
    const lost = index < 0;
    const at = Math.abs(index) * FRAME_SAMPLES;
    const frame = lost ? new Int16Array(FRAME_SAMPLES) : samples.subarray(at, at + FRAME_SAMPLES);
    const payload = encodeG711(frame, MULAW_8K);
    receiver.receive(
      { marker: false, payloadType: 0, sequence: Math.abs(index), timestamp: at, ssrc: 1, payload },
      Math.abs(index) * FRAME_MS,
    );
  }
  return concatenate([...received, ...timeline.flush()]);
}

/** The packets in order of arrival; one with a number below 0 is lost and becomes silence. */
function arrivals(count: number, { lossShare, reorderShare, burst, silent }: BadLine, seed: number): number[] {
  const random = uniform(seed);
  const order: number[] = [];
  let losing = 0;
  for (let i = 0; i < count; i++) {
    if (losing === 0 && i > 0 && random() < lossShare / burst) losing = burst;
    if (losing > 0) {
      losing--;
      if (silent === true) order.push(-i);
      continue;
    }
    if (order.length > 0 && random() < reorderShare) order.splice(-1, 0, i);
    else order.push(i);
  }
  return order;
}
