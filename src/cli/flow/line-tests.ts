/** Runs tests as calls over a simulated line with a gateway of their own. */
import type { FeedEvent } from '../../calls/feed/events.ts';
import { flowsPart } from '../../flows/part.ts';
import { ObservedCall } from '../../flows/testing/observed-call.ts';
import { runScript } from '../../flows/testing/script.ts';
import { CALLED_NUMBER, CALLER_NUMBER, parametersOf } from '../../flows/testing/test-file.ts';
import { testWorld, timeZoneOf } from '../../flows/testing/test-world.ts';
import type { FlowWorld } from '../../flows/verbs/flow-world.ts';
import { systemClock } from '../../foundation/clock.ts';
import { createLog } from '../../foundation/log/log.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { type Gateway, runGateway } from '../../gateway/main.ts';
import { PARTS } from '../../gateway/parts.ts';
import { callerSpeech } from '../caller-speech.ts';
import { untilReady } from '../readiness.ts';
import { type CallerLine, LineCaller } from './line-caller.ts';
import type { TestResult, TestRun, TestRunner } from './test-result.ts';
import { type LineCall, twilioLine } from './twilio-line.ts';

/** Of flite, whose voices are always there; no flow speaks with it unless it says so. */
const CALLER_VOICE = 'kal16';
const FLITE = 'flite';

/** Opens the line of a call. */
export type OpenLine = (call: LineCall) => CallerLine | Promise<CallerLine>;

interface TestLineParts {
  readonly gateway: Gateway;
  readonly worlds: Map<string, FlowWorld>;
  readonly openLine: OpenLine;
  readonly voice: string;
}

/** A gateway with the flows of one folder, for tests. */
export class TestLine implements TestRunner {
  readonly #gateway: Gateway;
  readonly #worlds: Map<string, FlowWorld>;
  readonly #callers = new Map<string, LineCaller>();
  readonly #speech = new Map<string, Promise<Int16Array>>();
  readonly #voice: string;
  readonly #openLine: OpenLine;

  private constructor({ gateway, worlds, openLine, voice }: TestLineParts) {
    this.#gateway = gateway;
    this.#worlds = worlds;
    this.#openLine = openLine;
    this.#voice = voice;
    gateway.subscribe((event: FeedEvent) => this.#callers.get(event.callId)?.onEvent(event));
  }

  /**
   * Starts the gateway. `openLine` = the line of a call, Twilio's unless given.
   * @throws ConfigError when the flows cannot be used
   */
  static async open(settings: Settings, openLine: OpenLine = twilioLine): Promise<TestLine> {
    let refusal: string | null = null;
    const worlds = new Map<string, FlowWorld>();
    const own = flowsPart(({ callId }) => worlds.get(callId) ?? null);
    const gateway = await runGateway(settings, {
      log: createLog('fatal'),
      onRefused: (message) => {
        refusal = message;
      },
      parts: PARTS.map((part) => (part.name === own.name ? own : part)),
    });
    try {
      await untilReady(gateway.url, systemClock, () => refusal);
      return new TestLine({ gateway, worlds, openLine, voice: await chooseVoice(gateway.url) });
    } catch (error) {
      await gateway.close();
      throw error;
    }
  }

  /** Makes the call of a test. Never rejects. */
  async run({ file, tests, test, set, lines }: TestRun): Promise<TestResult> {
    const startMs = systemClock.nowMs();
    const observed = new ObservedCall();
    const line = await this.#openLine({
      url: this.#gateway.url,
      from: test.from ?? CALLER_NUMBER,
      to: test.to ?? CALLED_NUMBER,
      parameters: { ...parametersOf(test), flow: tests.flow },
    });
    const { callId } = line;
    const onSet: FlowWorld['onSet'] = (_flow, name, value) => observed.note({ type: 'set', name, value });
    this.#worlds.set(callId, testWorld(test, { clock: systemClock, timeZone: timeZoneOf(set), onSet }));
    const speech = (text: string): Promise<Int16Array> => this.#speak(text, tests.voice ?? this.#voice);
    const caller = new LineCaller({ line, observed, speech });
    this.#callers.set(callId, caller);
    const called = caller.call();
    const { failures, answersMs } = await runScript(test, caller, lines);
    const refusal = await called;
    this.#callers.delete(callId);
    this.#worlds.delete(callId);
    const { dialogue, steps } = observed;
    const durationMs = systemClock.nowMs() - startMs;
    const reasons = refusal === null ? failures : [`the call could not be made: ${refusal}`];
    return { file, flow: tests.flow, name: test.name, failures: reasons, dialogue, durationMs, answersMs, steps };
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
