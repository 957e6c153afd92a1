/** Runs tests as calls over a simulated line with a gateway of their own. */
import { randomUUID } from 'node:crypto';
import type { FeedEvent } from '../../calls/feed/events.ts';
import type { FlowWorld } from '../../flows/steps/flow-world.ts';
import { ObservedCall } from '../../flows/testing/observed-call.ts';
import { runScript } from '../../flows/testing/script.ts';
import { CALLED_NUMBER, CALLER_NUMBER } from '../../flows/testing/test-file.ts';
import { testWorld, timeZoneOf } from '../../flows/testing/test-world.ts';
import { systemClock } from '../../foundation/clock.ts';
import { createLog } from '../../foundation/log/log.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { type Gateway, runGateway } from '../../main.ts';
import { callerSpeech } from '../caller-speech.ts';
import { untilReady } from '../readiness.ts';
import { LineCaller } from './line-caller.ts';
import type { TestResult, TestRun, TestRunner } from './test-result.ts';

/** Of flite, whose voices are always there; no flow speaks with it unless it says so. */
const CALLER_VOICE = 'kal16';
const FLITE = 'flite';

/** A gateway with the flows of one folder, for tests. */
export class TestLine implements TestRunner {
  readonly #gateway: Gateway;
  readonly #worlds: Map<string, FlowWorld>;
  readonly #callers = new Map<string, LineCaller>();
  readonly #speech = new Map<string, Promise<Int16Array>>();
  readonly #voice: string;

  private constructor(gateway: Gateway, worlds: Map<string, FlowWorld>, voice: string) {
    this.#gateway = gateway;
    this.#worlds = worlds;
    this.#voice = voice;
    gateway.subscribe((event: FeedEvent) => this.#callers.get(event.callId)?.onEvent(event));
  }

  /** @throws ConfigError when the flows cannot be used */
  static async open(settings: Settings): Promise<TestLine> {
    let refusal: string | null = null;
    const worlds = new Map<string, FlowWorld>();
    const gateway = await runGateway(settings, {
      log: createLog('fatal'),
      onRefused: (message) => {
        refusal = message;
      },
      flowWorld: ({ callId }) => worlds.get(callId) ?? null,
    });
    try {
      await untilReady(gateway.url, systemClock, () => refusal);
      return new TestLine(gateway, worlds, await chooseVoice(gateway.url));
    } catch (error) {
      await gateway.close();
      throw error;
    }
  }

  /** Makes the call of a test. Never rejects. */
  async run({ file, tests, test, set }: TestRun): Promise<TestResult> {
    const callSid = `CA${randomUUID().replaceAll('-', '')}`;
    const voice = tests.voice ?? this.#voice;
    const startMs = systemClock.nowMs();
    const observed = new ObservedCall();
    const onSet: FlowWorld['onSet'] = (_flow, name, value) => observed.note({ type: 'set', name, value });
    this.#worlds.set(callSid, testWorld(test, { clock: systemClock, timeZone: timeZoneOf(set), onSet }));
    const caller = new LineCaller({
      url: this.#gateway.url,
      callSid,
      from: test.from ?? CALLER_NUMBER,
      to: test.to ?? CALLED_NUMBER,
      parameters: { ...test.parameters, flow: tests.flow },
      observed,
      speech: (text) => this.#speak(text, voice),
    });
    this.#callers.set(callSid, caller);
    try {
      const { failures, answersMs } = await runScript(test, caller);
      const { dialogue, steps } = observed;
      const durationMs = systemClock.nowMs() - startMs;
      return { file, flow: tests.flow, name: test.name, failures, dialogue, durationMs, answersMs, steps };
    } finally {
      this.#callers.delete(callSid);
      this.#worlds.delete(callSid);
    }
  }

  close(): Promise<void> {
    return this.#gateway.close();
  }

  #speak(text: string, voice: string): Promise<Int16Array> {
    const key = `${voice}\0${text}`;
    const made = this.#speech.get(key) ?? callerSpeech(this.#gateway.url, text, voice);
    this.#speech.set(key, made);
    return made;
  }
}

/** Another voice than that which flows speak with, of the same engine if there is one. */
async function chooseVoice(url: string): Promise<string> {
  const response = await fetch(`${url}/v1/voices`);
  const { data } = (await response.json()) as { data: readonly Voice[] };
  const usual = data.find((voice) => voice.default);
  const others = data.filter(({ name, live, language }) => live && name !== usual?.name && /^en\b/.test(language));
  const alike = others.find(({ engine }) => engine === usual?.engine && engine !== FLITE);
  return alike?.name ?? CALLER_VOICE;
}

interface Voice {
  readonly name: string;
  readonly engine: string;
  readonly language: string;
  readonly live: boolean;
  readonly default: boolean;
}
