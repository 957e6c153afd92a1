/** The verb `record`: the caller leaves a message. */
import { z } from 'zod';
import { toneSamples } from '../../audio/tones/tone-samples.ts';
import type { CallApp, CallerEvent } from '../../calls/app/call-app.ts';
import { MessageRecording } from '../../calls/sound/message-recording.ts';
import type { Timer } from '../../foundation/clock.ts';
import { settlesWithin } from '../../foundation/settles-within.ts';
import type { YamlPath } from '../../foundation/yaml-document.ts';
import { variableSchema } from '../file/conditions.ts';
import type { FlowFinding } from '../file/flow-finding.ts';
import { promptSchema } from '../file/prompts.ts';
import { checkUrl, HTTP } from './check-url.ts';
import { fillUrl } from './fill-url.ts';
import { tellMessage } from './message-webhook.ts';
import { MessageWords } from './message-words.ts';
import { durationMs, targetSchema, urlSchema } from './schemas.ts';
import { type StepExit, StepFailure, type StepTools } from './step.ts';
import { defineVerb, exit, promptOf } from './verb.ts';

const MAX_MS = 120_000;
const MIN_MS = 1000;
const SILENCE_MS = 4000;
/** How long the recogniser may take for the last words. */
const WORDS_MS = 3000;
const BEEP = { toneHz: 1000, durationMs: 250 };
const BEEP_RATE_HZ = 8000;

const schema = z.strictObject({
  prompt: promptSchema.optional(),
  into: variableSchema.optional().describe('Gets the name of the recording'),
  maxMs: durationMs(600_000).optional().describe('120000'),
  minMs: durationMs(60_000).optional().describe('Less is no message: 1000'),
  silenceMs: durationMs(30_000).optional().describe('Silence that ends it: 4000'),
  terminator: z.enum(['#', '*', 'any', 'none']).optional(),
  beep: z.boolean().optional(),
  transcript: z
    .union([z.boolean(), variableSchema])
    .optional()
    .describe('The variable that gets what was said; false = the webhook is told without it'),
  webhook: urlSchema.optional().describe('Told of the message, signed'),
  empty: targetSchema.optional().describe('Where the flow goes on when nothing was said'),
});
type Fields = z.infer<typeof schema>;

/**
 * Takes a message: from the beep until silence, a key, its greatest length or the end of the call. Who hangs up has
 * left what was said until then.
 */
export const record = defineVerb({
  schema: schema.describe('Records a message'),
  takes: 'caller',
  exits: ({ empty }) => exit('empty', empty),
  prompts: promptOf,
  check: checkRecord,
  run: runRecord,
});

async function runRecord(fields: Fields, tools: StepTools): Promise<StepExit> {
  const { call, variables } = tools;
  const recording = call.recording ?? (tools.world.takesMessages === true ? unkept(tools) : null);
  if (recording === null) throw new StepFailure('there is no folder for sound: set DATA_DIR to keep messages');
  const url = fields.webhook === undefined ? null : fillUrl(fields.webhook, variables);
  if (fields.prompt !== undefined) await tools.say(fields.prompt);
  const beep = { samples: toneSamples(BEEP, BEEP_RATE_HZ), rateHz: BEEP_RATE_HZ };
  if (fields.beep !== false) await tools.play(beep, 'beep');
  const begun = recording.beginMessage();
  if (begun === null) throw new StepFailure('this call has as many messages as a call may have');
  const { name, callId, message } = begun;
  const taking = new Taking(fields, tools, message);
  const endMs = await taking.ended;
  const isKept = message.end(endMs);
  if (!isKept) {
    taking.release();
    return fields.empty ?? null;
  }
  recording.keepMessage();
  const told = { message: name, startMs: message.startMs, endMs };
  const { transcript } = fields;
  if (url !== null) {
    const text = () => taking.words(endMs);
    tellMessage({ url, tools, callId, message: told, hasText: transcript !== false, text });
  }
  call.onFlow({ type: 'flow.message', flow: tools.flow, step: tools.step, ...told });
  if (fields.into !== undefined) variables.set(fields.into, name);
  const isAwaited = typeof transcript === 'string' || (url !== null && tools.world.request !== undefined);
  const said = isAwaited ? await taking.words(endMs) : null;
  if (typeof transcript === 'string') variables.set(transcript, said);
  taking.release();
  return null;
}

function checkRecord({ minMs, maxMs, webhook }: Fields, path: YamlPath): FlowFinding[] {
  const findings = webhook === undefined ? [] : checkUrl(webhook, [...path, 'webhook'], HTTP);
  if (minMs !== undefined && maxMs !== undefined && minMs > maxMs)
    findings.push({ path: [...path, 'maxMs'], message: `got ${maxMs}, expected at least minMs (${minMs})` });
  return findings;
}

/** A message while it is left. */
class Taking implements CallApp {
  readonly unreachable = false;
  readonly listens = true;
  /** Resolves with its end, in ms of the call. */
  readonly ended: Promise<number>;
  readonly #fields: Fields;
  readonly #message: MessageRecording;
  readonly #tools: StepTools;
  #resolve: (endMs: number) => void = () => undefined;
  #timers: Timer[] = [];
  #silence: Timer | null = null;
  readonly #words = new MessageWords();
  #isOver = false;
  /** Speech up to the last pause, and since when the caller speaks, by the clock; null = there is a pause. */
  #spokenMs = 0;
  #speaksSinceMs: number | null = null;
  readonly #beganMs: number;

  constructor(fields: Fields, tools: StepTools, message: MessageRecording) {
    const { clock } = tools.call.context;
    this.#fields = fields;
    this.#tools = tools;
    this.#message = message;
    this.#beganMs = clock.nowMs();
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#timers.push(clock.after(fields.maxMs ?? MAX_MS, () => this.close()));
    this.#waitForSpeech();
    tools.signal.addEventListener('abort', () => this.close(), { once: true });
    tools.handTo(this);
    if (tools.signal.aborted) this.close();
  }

  onSpeech(event: CallerEvent): void {
    this.#words.add(event);
    if (this.#isOver) return;
    if (event.type === 'speech.started') this.#onStarted();
    else if (event.type === 'speech.stopped') this.#onStopped();
    else if (event.type === 'caption' && event.final && event.text !== '') this.#onWords();
  }

  onDtmf(digit: string): void {
    const { terminator = '#' } = this.#fields;
    if (!this.#isOver && (terminator === 'any' || terminator === digit)) this.close();
  }

  /**
   * What was said up to `endMs`, of the call. Null = the recogniser does not know it in time. Until {@link release} is
   * called it hears the last words.
   */
  async words(endMs: number): Promise<string | null> {
    const { clock } = this.#tools.call.context;
    const isKnown = await settlesWithin(clock, this.#words.settled(), WORDS_MS);
    return isKnown ? this.#words.between(this.#message.startMs, endMs) : null;
  }

  /** The caller is listened to by others again. */
  release(): void {
    this.#tools.handTo(null);
  }

  mute(): void {}

  close(): void {
    if (this.#tools.signal.aborted) this.#words.end();
    if (this.#isOver) return;
    this.#isOver = true;
    for (const timer of [...this.#timers, this.#silence]) timer?.cancel();
    if (this.#heardMs >= (this.#fields.minMs ?? MIN_MS)) this.#message.keep();
    const { clock } = this.#tools.call.context;
    this.#resolve(Math.round(this.#message.startMs + clock.nowMs() - this.#beganMs));
  }

  get #heardMs(): number {
    const { clock } = this.#tools.call.context;
    return this.#spokenMs + (this.#speaksSinceMs === null ? 0 : clock.nowMs() - this.#speaksSinceMs);
  }

  #onStarted(): void {
    const { clock } = this.#tools.call.context;
    this.#silence?.cancel();
    this.#speaksSinceMs ??= clock.nowMs();
    const stillMs = Math.max((this.#fields.minMs ?? MIN_MS) - this.#heardMs, 0);
    this.#timers.push(clock.after(stillMs, () => this.#keepIfSaid()));
  }

  #onStopped(): void {
    this.#spokenMs = this.#heardMs;
    this.#speaksSinceMs = null;
    this.#keepIfSaid();
    this.#waitForSpeech();
  }

  /** A caller who types takes no time to speak. */
  #onWords(): void {
    if (this.#tools.world.takesMessages !== true) return;
    this.#spokenMs += this.#fields.minMs ?? MIN_MS;
    this.#message.keep();
  }

  #keepIfSaid(): void {
    if (this.#heardMs >= (this.#fields.minMs ?? MIN_MS)) this.#message.keep();
  }

  #waitForSpeech(): void {
    const { clock } = this.#tools.call.context;
    this.#silence?.cancel();
    this.#silence = clock.after(this.#fields.silenceMs ?? SILENCE_MS, () => this.close());
  }
}

/** Takes messages that go nowhere. */
function unkept({ call }: StepTools): NonNullable<StepTools['call']['recording']> {
  const { codec, callId } = call.start;
  const open = () => ({ add: () => undefined, end: () => undefined });
  return {
    beginMessage: () => ({ callId, name: 'message-1', message: new MessageRecording({ codec, startMs: 0, open }) }),
    keepMessage: () => undefined,
  };
}
