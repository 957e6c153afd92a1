/** One call to a simulated callee, on a clock that waits for the recogniser: load changes nothing of what is found. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ENGINE_RATE_HZ } from '../../../engine/contract.ts';
import { Resampler } from '../../../src/audio/resample.ts';
import { AnswerWatch } from '../../../src/calls/answered/answer-watch.ts';
import type { AnswerNews } from '../../../src/calls/answered/answered-by.ts';
import { toTranscriberMetrics } from '../../../src/calls/inbound/track.ts';
import type { Engine } from '../../../src/engine-client/engine.ts';
import { createLog } from '../../../src/foundation/log/log.ts';
import { Metrics } from '../../../src/foundation/metrics.ts';
import { readSettings } from '../../../src/foundation/settings/config.ts';
import { FRAME_MS, MULAW_8K, msToSamples } from '../../../src/foundation/units.ts';
import { VirtualClock } from '../../../src/foundation/virtual-clock.ts';
import { LiveTranscriber } from '../../../src/transcription/live-transcriber.ts';

const metrics = new Metrics();
const FRAME = msToSamples(FRAME_MS, MULAW_8K.rateHz);

/** News, when it came, and what had been heard by then. */
export type TimedNews = AnswerNews & { readonly atMs: number };

/** What a call found out. */
export interface AnsweredCall {
  readonly news: readonly TimedNews[];
  readonly reason: string;
  readonly text: string;
}

/** An engine that says whether it has something to do. */
export class CountedEngine {
  readonly engine: Engine;
  #busy = 0;

  constructor(engine: Engine) {
    this.engine = new Proxy(engine, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return (...given: unknown[]) => this.#count(Reflect.apply(value, target, given));
      },
    });
  }

  /** Resolves when nothing is asked of it. */
  async idle(): Promise<void> {
    do await new Promise((resolve) => setImmediate(resolve));
    while (this.#busy > 0 && (await sleep(1)) === undefined);
  }

  #count(answer: unknown): unknown {
    if (!(answer instanceof Promise)) return answer;
    this.#busy++;
    return answer.finally(() => {
      this.#busy--;
    });
  }
}

/** Calls, and listens to all of `samples` (8 kHz). */
export async function callCallee(counted: CountedEngine, samples: Int16Array): Promise<AnsweredCall> {
  const clock = new VirtualClock();
  const news: TimedNews[] = [];
  let reason = '';
  let text = '';
  const log = createLog('info', {
    write: (line) => {
      reason ||= (JSON.parse(line) as { reason?: string }).reason ?? '';
    },
  });
  const watch = new AnswerWatch({
    start: { codec: MULAW_8K, outgoing: true, parameters: {} },
    clock,
    log,
    onNews: (told) => news.push({ ...told, atMs: clock.nowMs() }),
  });
  const settings = readSettings({});
  const transcriber = new LiveTranscriber({
    settings,
    engine: counted.engine,
    clock,
    originMs: 0,
    emit: (event) => {
      if (event.type === 'caption' && news.length === 0) text = event.text;
      if (event.type === 'caption' || event.type === 'speech.started' || event.type === 'speech.stopped')
        watch.onSpeech(event);
    },
    metrics: toTranscriberMetrics(metrics),
  });
  const resampler = new Resampler(MULAW_8K.rateHz, ENGINE_RATE_HZ);
  watch.begin();
  for (let at = 0; at + FRAME <= samples.length; at += FRAME) {
    const frame = samples.subarray(at, at + FRAME);
    clock.advance(FRAME_MS);
    watch.onSound(frame, (at * 1000) / MULAW_8K.rateHz);
    transcriber.push(resampler.push(frame));
    await counted.idle();
    if (news.some(({ type }) => type === 'beep') || (news.length > 0 && news[0]?.type === 'answered' && isOver(news)))
      break;
  }
  transcriber.close();
  return { news, reason, text };
}

/** Only of a machine there is more to come. */
function isOver([first]: readonly TimedNews[]): boolean {
  return first?.type === 'answered' && first.by !== 'machine';
}
