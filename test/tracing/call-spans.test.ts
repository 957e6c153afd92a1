import { AlwaysOffSampler } from '@opentelemetry/sdk-trace-base';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../src/engine-client/engine.ts';
import { type Caller, type Gateway, startCalls } from '../calls/harness.ts';
import { SpanTree } from './span-tree.ts';

const NUMBER = '+15550001';

function begin(environment: Record<string, string> = {}): { spans: SpanTree; gateway: Gateway } {
  const spans = new SpanTree();
  return { spans, gateway: startCalls(environment, null, (clock) => spans.open(clock)) };
}

/** The caller speaks, and is silent, in real time. */
async function talk({ clock }: Gateway, caller: Caller, speechMs: number, silenceMs: number): Promise<void> {
  for (let ms = 0; ms < speechMs + silenceMs; ms += 20) {
    if (ms < speechMs) caller.speak(20);
    else caller.hush(20);
    await clock.run(20);
  }
}

async function hangUp({ clock }: Gateway, caller: Caller): Promise<void> {
  caller.stop();
  await clock.run(100);
}

describe('the spans of a call', () => {
  it('show where the time of each utterance went', async () => {
    const { spans, gateway } = begin();
    gateway.engine.transcribeMs = 60;
    const caller = gateway.dial().start({ parameters: { from: NUMBER, callerName: 'Ann' } });
    await talk(gateway, caller, 1000, 600);
    caller.press('5');
    await hangUp(gateway, caller);
    expect(spans.lines).toMatchInlineSnapshot(`
      [
        "call 0+1610",
        "  utterance 20+1430",
        "    endpoint 1020+430",
        "    queue 1210+0",
        "    run 1210+60",
        "    caption 1450+0",
      ]
    `);
    expect(spans.attributes('call')).toMatchInlineSnapshot(`
      {
        "call.audio_ms": 1600,
        "call.direction": "incoming",
        "call.end_reason": "hangup",
        "call.finals": 1,
        "call.gaps": 0,
        "call.id": "CA1",
        "call.keys": 1,
        "call.spoken": 0,
        "carrier": "twilio",
      }
    `);
    expect(spans.attributes('utterance')).toMatchInlineSnapshot(`
      {
        "call.id": "CA1",
        "track": "inbound",
        "utterance": 1,
        "utterance.audio_ms": 1024,
        "utterance.cut": false,
        "utterance.echo": false,
        "utterance.failed_decodes": 0,
        "utterance.final": "eager",
        "utterance.late": false,
        "utterance.lost_ms": 0,
      }
    `);
  });

  it('tell the wait for an engine from its work', async () => {
    const { spans, gateway } = begin();
    const { engine } = gateway;
    const transcribe = engine.transcribe.bind(engine);
    engine.transcribeMs = 100;
    engine.transcribe = async (request) => {
      const transcript = await transcribe(request);
      return { ...transcript, cost: { waitMs: 70, runMs: 25, runs: 2 } };
    };
    const caller = gateway.dial().start();
    await talk(gateway, caller, 1000, 600);
    await hangUp(gateway, caller);
    expect(spans.lines.filter((line) => / (queue|run) /.test(line))).toMatchInlineSnapshot(`
      [
        "    queue 1210+70",
        "    run 1280+30",
      ]
    `);
    expect(spans.attributes('run')).toEqual({ 'engine.run_ms': 25, 'engine.runs': 2 });
  });

  it('mark a final that came late', async () => {
    const { spans, gateway } = begin();
    const caller = gateway.dial().start();
    await talk(gateway, caller, 1000, 0);
    gateway.engine.transcribeMs = 3000;
    await talk(gateway, caller, 0, 600);
    await gateway.clock.run(4000);
    await hangUp(gateway, caller);
    expect(spans.attributes('utterance')).toMatchObject({ 'utterance.late': true, 'utterance.lost_ms': 0 });
  });

  it('mark what no engine could read', async () => {
    const { spans, gateway } = begin();
    const { engine, clock } = gateway;
    engine.transcribe = () => Promise.reject(new EngineError('unavailable', 'the engine was lost'));
    const caller = gateway.dial().start();
    await talk(gateway, caller, 1000, 600);
    await clock.run(30_000, 100);
    await hangUp(gateway, caller);
    expect(spans.lines.filter((line) => line.includes('!'))).toEqual([
      expect.stringMatching(/^ {2}utterance .+ ! final_lost$/),
    ]);
    expect(spans.attributes('utterance')).toMatchObject({
      'utterance.final': 'none',
      'utterance.lost_ms': 1024,
      'utterance.failed_decodes': 10,
    });
    expect(spans.of('run')).toEqual([]);
    expect(spans.attributes('call')).toMatchObject({ 'call.gaps': 1, 'call.finals': 0 });
  });

  it('are those of an engine that was replaced in the midst of a final, too', async () => {
    const { spans, gateway } = begin();
    const { engine } = gateway;
    const caller = gateway.dial().start();
    await talk(gateway, caller, 1000, 0);
    const { transcribe } = engine;
    engine.transcribe = () => Promise.reject(new EngineError('unavailable', 'the engine was lost'));
    await talk(gateway, caller, 0, 500);
    engine.transcribe = transcribe;
    await talk(gateway, caller, 0, 2000);
    await hangUp(gateway, caller);
    expect(spans.lines.some((line) => line.includes('!'))).toBe(false);
    expect(spans.attributes('utterance')).toMatchObject({ 'utterance.final': 'fresh' });
    expect(spans.attributes('utterance')['utterance.failed_decodes']).toBeGreaterThan(0);
  });

  it('show each sentence that is said: made, from the cache, cut off', async () => {
    const { spans, gateway } = begin();
    gateway.engine.speakMs = 80;
    const caller = gateway.dial().start();
    await gateway.clock.run(100);
    const voice = gateway.registry.voice('CA1');
    voice?.say('Hello there, Ann. How are you?');
    for (let ms = 0; ms < 1500; ms += 20) {
      await gateway.clock.run(20);
      caller.hush(20).returnMarks(gateway.clock.nowMs());
    }
    voice?.say('How are you?');
    await gateway.clock.run(100);
    voice?.interrupt();
    await hangUp(gateway, caller);
    expect(spans.lines).toMatchInlineSnapshot(`
      [
        "call 0+1720",
        "  speech 110+420",
        "    queue 110+0",
        "    first_sound 110+80",
        "    play 190+340",
        "  speech 200+570",
        "    queue 200+0",
        "    first_sound 200+80",
        "    play 280+490",
        "  speech 1610+90",
        "    first_sound 1610+0",
        "    play 1610+90",
      ]
    `);
    expect(spans.of('speech').map(({ attributes }) => attributes)).toMatchInlineSnapshot(`
      [
        {
          "trunkline.call.id": "CA1",
          "trunkline.speech.audio_ms": 340,
          "trunkline.speech.from": "engine",
          "trunkline.speech.heard_ms": 340,
          "trunkline.speech.interrupted": false,
          "trunkline.spoken.utterance": "u1",
        },
        {
          "trunkline.call.id": "CA1",
          "trunkline.speech.audio_ms": 240,
          "trunkline.speech.from": "engine",
          "trunkline.speech.heard_ms": 240,
          "trunkline.speech.interrupted": false,
          "trunkline.spoken.utterance": "u1",
        },
        {
          "trunkline.call.id": "CA1",
          "trunkline.speech.audio_ms": 240,
          "trunkline.speech.from": "memory",
          "trunkline.speech.heard_ms": 90,
          "trunkline.speech.interrupted": true,
          "trunkline.spoken.utterance": "u2",
        },
      ]
    `);
  });

  it('are one for a stream that was refused, with the reason', async () => {
    const { spans, gateway } = begin({ MAX_CALLS: '1' });
    const caller = gateway.dial().start();
    gateway.dial();
    expect(spans.lines).toEqual(['call 0+0 ! too_many_calls']);
    await hangUp(gateway, caller);
    expect(spans.attributes('call')).toEqual({
      carrier: 'twilio',
      'call.direction': 'incoming',
      'call.end_reason': 'error',
      'error.type': 'too_many_calls',
    });
  });

  it('have no word, name or number in them', async () => {
    const { spans, gateway } = begin({ REDACT: 'off' });
    const caller = gateway.dial().start({ parameters: { from: NUMBER, to: '+15550002', callerName: 'Ann Parker' } });
    await talk(gateway, caller, 1000, 600);
    caller.press('7');
    gateway.registry.voice('CA1')?.say('Your balance is forty two dollars.');
    await gateway.clock.run(3000);
    await hangUp(gateway, caller);
    expect(spans.all.length).toBeGreaterThan(6);
    const written = JSON.stringify(spans.all.map(({ name, attributes, events }) => ({ name, attributes, events })));
    expect(written).not.toMatch(/1555000|secret|words|Ann|Parker|balance|forty|dollars/);
  });

  it('are none for calls that are not sampled', async () => {
    const spans = new SpanTree(new AlwaysOffSampler());
    const gateway = startCalls({}, null, (clock) => spans.open(clock));
    const caller = gateway.dial().start();
    await talk(gateway, caller, 1000, 600);
    gateway.registry.voice('CA1')?.say('Hello.');
    await gateway.clock.run(1000);
    await hangUp(gateway, caller);
    gateway.dial().start({ callSid: '' });
    expect(spans.all).toEqual([]);
  });
});
