/**
 * A caller whose telephone sends back what it plays: a call over Twilio's protocol in which the caller's track has,
 * besides what the caller says and the line's noise, the echo of the server's voice.
 */
import { decodeG711 } from '../../src/audio/g711.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { FRAME_MS, MULAW_8K, msToSamples } from '../../src/foundation/units.ts';
import { TwilioCaller } from '../../src/simulator/twilio-caller.ts';
import { type EchoingLine, EchoingTelephone, type Said } from './echoing-telephone.ts';
import { LINE_RATE_HZ } from './signals.ts';

interface EchoingCallOptions {
  readonly url: string;
  readonly line: EchoingLine;
  readonly seconds: number;
  readonly parameters?: Readonly<Record<string, string>>;
  /** What the caller says, and when. */
  readonly says?: readonly Said[];
  /** The server had its voice stopped, at `atMs` of the call. */
  onClear?(atMs: number): void;
}

/** Places the call; resolves when it is over. */
export async function placeEchoingCall(options: EchoingCallOptions, callSid: string): Promise<void> {
  const track = new Int16Array(options.seconds * LINE_RATE_HZ);
  const telephone = new EchoingTelephone(options.line, track, options.says);
  const time = new TelephoneTime();
  const caller: TwilioCaller = new TwilioCaller({
    url: options.url,
    tracks: { inbound: track },
    pace: 'realtime',
    clock: systemClock,
    callSid,
    parameters: options.parameters ?? {},
    onAudio: (payload) => telephone.receive(decodeG711(payload, MULAW_8K), time.now(caller.sentMs)),
    onClear: () => {
      telephone.clear();
      options.onClear?.(caller.sentMs);
    },
  });
  const timer = systemClock.every(FRAME_MS / 2, () => telephone.play(time.now(caller.sentMs)));
  try {
    await caller.run();
  } finally {
    timer.cancel();
  }
}

/**
 * Where the call is by the clock. A caller on a busy machine sends late and catches up; a telephone plays on all the
 * same.
 */
class TelephoneTime {
  #beganMs = Number.POSITIVE_INFINITY;

  /** In samples, when the caller has sent `sentMs`. */
  now(sentMs: number): number {
    const nowMs = systemClock.nowMs();
    this.#beganMs = Math.min(this.#beganMs, nowMs - sentMs);
    return msToSamples(nowMs - this.#beganMs, LINE_RATE_HZ);
  }
}
