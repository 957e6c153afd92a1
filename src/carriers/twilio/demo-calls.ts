/**
 * Simulated calls of a gateway with itself, for whoever looks at an empty page. They come in by a line inside the
 * process and are admitted like any other call; keys, tokens and signatures of the endpoints are not involved.
 */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { mixDown } from '../../audio/mix.ts';
import { readWav } from '../../audio/wav.ts';
import type { CallRegistry } from '../../calls/registry.ts';
import type { WebSocketCalls } from '../../calls/socket-admission.ts';
import type { Clock } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import { packagePath } from '../../foundation/folders/paths.ts';
import type { Log } from '../../foundation/log/log.ts';
import { MULAW_8K } from '../../foundation/units.ts';
import { inProcessLine } from '../../simulator/in-process-line.ts';
import { TwilioCaller } from '../../simulator/twilio-caller.ts';
import { TwilioDialect } from '../shared/wire/twilio-media.ts';

/** Demo calls at once. */
const DEMO_CALLS_MAX = 3;
/** What the carrier of these calls is named in the API. */
const CARRIER = 'demo';
/** Who speaks in fixtures/audio. */
const PARAMETERS = { callerName: 'Maria Keller', agentName: 'Tom', queue: 'Support' };
const PARTIES = { from: '+15550100', to: '+15550199' };
const MESSAGE_MAX_BYTES = 65_536;

interface DemoCallsOptions {
  readonly registry: Pick<CallRegistry, 'admit'>;
  readonly webSockets: WebSocketCalls;
  readonly clock: Clock;
  readonly log: Log;
}

/** The demo calls of one gateway. */
export class DemoCalls {
  readonly #options: DemoCallsOptions;
  readonly #callers = new Set<TwilioCaller>();
  /** Calls whose sound is still being read. */
  #beginning = 0;
  #isClosed = false;

  constructor(options: DemoCallsOptions) {
    this.#options = options;
  }

  /**
   * Begins a call of two people in real time and returns its id.
   * @throws TrunklineError `too_many_requests` while three go on, and whatever a call is refused with
   */
  async place(): Promise<{ callId: string }> {
    const going = this.#callers.size + this.#beginning;
    this.#options.registry.admit();
    if (going >= DEMO_CALLS_MAX)
      throw new TrunklineError(
        'too_many_requests',
        `${going} demo calls go on, at most ${DEMO_CALLS_MAX} at once: wait for the end of one`,
      );
    this.#beginning++;
    try {
      const [inbound, outbound] = await Promise.all([readTrack('demo-caller.wav'), readTrack('demo-agent.wav')]);
      return { callId: this.#begin({ inbound, outbound }) };
    } finally {
      this.#beginning--;
    }
  }

  /** Hangs up and takes no more. */
  close(): void {
    this.#isClosed = true;
    for (const caller of this.#callers) caller.hangup();
  }

  #begin(tracks: { readonly inbound: Int16Array; readonly outbound: Int16Array }): string {
    const { webSockets, clock, log } = this.#options;
    const caller = new TwilioCaller({
      url: 'ws://in-process/',
      createConnection: inProcessLine(
        (socket) => webSockets.accept(socket, new TwilioDialect(CARRIER), {}),
        MESSAGE_MAX_BYTES,
      ),
      tracks,
      pace: 'realtime',
      clock,
      callSid: `demo-${randomUUID()}`,
      ...PARTIES,
      parameters: PARAMETERS,
    });
    if (this.#isClosed) throw new TrunklineError('draining', 'the server is shutting down and takes no new calls');
    this.#callers.add(caller);
    const onEnd = (): void => void this.#callers.delete(caller);
    caller.run().then(onEnd, (err: unknown) => {
      onEnd();
      log.warn({ err }, 'a demo call failed');
    });
    return caller.callSid;
  }
}

async function readTrack(name: string): Promise<Int16Array> {
  const { channels, rateHz } = readWav(await readFile(packagePath('fixtures', 'audio', name)));
  if (rateHz !== MULAW_8K.rateHz) throw new Error(`${name} has ${rateHz} Hz, expected ${MULAW_8K.rateHz}`);
  return mixDown(channels);
}
