/** Whole calls that we make over SIP: a machine and a person, from their sound to what a flow and an app do. */
import { afterEach, describe, expect, it } from 'vitest';
import { decodeG711, encodeG711 } from '../../../src/audio/g711.ts';
import { toneSamples } from '../../../src/audio/tones/tone-samples.ts';
import type { FlowContext } from '../../../src/calls/app/call-flows.ts';
import { flowSetOf } from '../../../src/flows/file/flow-set.ts';
import { FlowApp } from '../../../src/flows/run/flow-app.ts';
import { STEP_RUNNERS } from '../../../src/flows/verbs/table.ts';
import { ALAW_8K, FRAME_MS, msToSamples } from '../../../src/foundation/units.ts';
import { answer, OFFER, SipLine } from '../../carriers/sip/line.ts';
import { CONTACT, dial } from '../../carriers/sip/timed-call.ts';
import { flowOf } from '../../flows/run/flow-call.ts';
import { startApp } from '../../helpers/app.ts';
import { uniform } from '../../helpers/signals.ts';

const FLOW = `start: who
failedPrompt: "gone wrong"
steps:
  who:
    branch:
      when:
        - {if: {variable: answered.by, is: machine}, next: leave}
      else: greet
  greet: {say: "good morning, this is the bakery, and your cake is ready"}
  leave: {leaveMessage: "please call us back"}`;
const BEEP = toneSamples({ toneHz: 1000, durationMs: 400 }, ALAW_8K.rateHz);
const FRAME = msToSamples(FRAME_MS, ALAW_8K.rateHz);
const random = uniform(7);
/** Loud, and no tone. */
const speech = (durationMs: number): Int16Array =>
  Int16Array.from({ length: msToSamples(durationMs, ALAW_8K.rateHz) }, () => Math.round(16_000 * (random() - 0.5)));
const silence = (durationMs: number): Int16Array => new Int16Array(msToSamples(durationMs, ALAW_8K.rateHz));

let line: SipLine;
/** What has been heard so far of whoever answers. */
let heardMs = 0;
afterEach(() => line.close());

/** Somebody answers a call of ours. */
async function answered(parameters: Record<string, string>, text: string): Promise<void> {
  heardMs = 0;
  line = new SipLine();
  const { gateway } = line;
  gateway.engine.hear = () => ({ text });
  const set = flowSetOf('call', new Map([['call', flowOf(FLOW, 'call')]]));
  if (set === null) throw new Error('the flow is missing');
  const world = { wall: () => gateway.clock.wall() };
  const flow = {
    name: 'call',
    version: '1',
    open: (call: ConstructorParameters<typeof FlowApp>[0]['call']) =>
      new FlowApp({ set, call, runners: STEP_RUNNERS, recordings: { find: () => null }, world }),
  };
  const flows: FlowContext['flows'] = {
    named: (name) => (name === 'call' ? flow : null),
    calledAt: () => null,
  };
  Object.assign(gateway.context, { flows });
  const invite = await dial(line, { parameters });
  await line.receive(answer(invite, '200 OK', [CONTACT], OFFER));
}

/** They are heard, in real time. Returns the ms of it at which sound of ours was sent first; null = none was. */
async function hear(samples: Int16Array): Promise<number | null> {
  const media = line.media[0];
  if (media === undefined) throw new Error('there are no media');
  const sentBefore = media.sent.length;
  for (let at = 0; at < samples.length; at += FRAME) {
    const bytes = encodeG711(samples.slice(at, at + FRAME), ALAW_8K);
    media.listener?.receiveAudio({ bytes, atMs: heardMs, sequence: heardMs / FRAME_MS + 1 });
    heardMs += FRAME_MS;
    await line.gateway.clock.run(FRAME_MS, FRAME_MS);
    if (media.sent.slice(sentBefore).some(isLoud)) return (at * 1000) / ALAW_8K.rateHz;
  }
  return null;
}

/** They are heard to the end. */
async function hearAll(samples: Int16Array): Promise<void> {
  for (let at = 0; at < samples.length; at += FRAME) await hear(samples.slice(at, at + FRAME));
}

const isLoud = (bytes: Uint8Array): boolean => decodeG711(bytes, ALAW_8K).some((sample) => Math.abs(sample) > 20);

/** What the feed told of who answers. */
const told = () =>
  line.gateway.events.flatMap((event) =>
    event.type === 'answered' ? [`answered ${event.by}`] : event.type === 'beep' ? [`beep ${event.heard}`] : [],
  );

describe('a call that we make', () => {
  it('greets a person within 1.2 s of their hello', async () => {
    await answered({ flow: 'call' }, 'hello');
    expect(await hear(joined(silence(600), speech(500)))).toBeNull();
    const waitedMs = await hear(silence(1500));
    expect(waitedMs).toBeGreaterThan(500);
    expect(waitedMs).toBeLessThanOrEqual(1200);
    expect(told()).toEqual(['answered person']);
  });

  it('leaves its message behind the beep of a machine, and not before', async () => {
    await answered({ flow: 'call' }, 'please leave a message after the tone');
    expect(await hear(joined(silence(600), speech(3000), silence(700), BEEP))).toBeNull();
    expect(told()).toEqual(['answered machine']);
    const afterMs = await hear(silence(1000));
    expect(afterMs).toBeGreaterThanOrEqual(160);
    expect(afterMs).toBeLessThan(500);
    expect(told()).toEqual(['answered machine', 'beep true']);
    await hearAll(silence(3000));
    expect(line.gateway.events).toContainEqual(
      expect.objectContaining({ type: 'spoken', text: 'please call us back', interrupted: false }),
    );
  });

  it('leaves its message where a machine has finished and does not beep', async () => {
    await answered({ flow: 'call' }, 'we are not available');
    expect(await hear(joined(silence(600), speech(2000), silence(2200)))).toBeNull();
    expect(await hear(silence(1000))).not.toBeNull();
    expect(told()).toEqual(['answered machine', 'beep false']);
  });

  it('tells an app that has asked for it who answers, and when a machine records', async () => {
    const app = await startApp();
    await answered({ app: app.url, events: 'answered' }, 'leave a message');
    await hearAll(joined(silence(400), speech(2000), silence(500), BEEP, silence(400)));
    await app.until(({ frames }) => frames.filter(({ type }) => type === 'info').length === 2);
    expect(app.of('setup')).toMatchObject([{ direction: 'outbound-api' }]);
    expect(app.of('info')).toEqual([
      { type: 'info', name: 'answered', value: 'machine' },
      { type: 'info', name: 'beep', value: 'heard' },
    ]);
    await app.close();
  });
});

function joined(...parts: readonly Int16Array[]): Int16Array {
  return Int16Array.from(parts.flatMap((part) => [...part]));
}
