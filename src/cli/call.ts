/** `trunkline call`: places a simulated call with a running bridge, as Twilio or as an Asterisk. */
import { randomUUID } from 'node:crypto';
import { systemClock } from '../clock.ts';
import type { Settings } from '../settings.ts';
import { AsteriskCaller } from '../simulator/asterisk-caller.ts';
import { type CallReport, TwilioCaller } from '../simulator/twilio-caller.ts';
import { askVoiceWebhook, type StreamOrder } from '../simulator/twilio-webhook.ts';
import { type Codec, MULAW_8K, samplesToMs } from '../units.ts';
import type { KeyPress } from './arguments.ts';
import { loadAudio } from './audio-file.ts';
import { EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK } from './exit-codes.ts';
import { Interruption } from './interruption.ts';
import type { Terminal } from './terminal.ts';

const PROGRESS_EVERY_MS = 200;
/** `slin16`: what our dialplans ask for. */
const LINEAR_16K: Codec = { name: 'pcm16', rateHz: 16_000, channels: 1, bytesPerSample: 2 };

/** What all carriers' reports say. */
type Report = Pick<CallReport, 'sentMs' | 'received' | 'warnings' | 'closeCode' | 'closeReason'>;

/** A call of any carrier, ready to be placed. */
interface Placed {
  readonly id: string;
  readonly durationMs: number;
  readonly caller: { readonly sentMs: number; run(): Promise<Report>; hangup(): void };
}

/** The options of the command, checked. */
export interface CallCommand {
  /** What the caller says; `both` = what is said to the caller. Paths of WAV files. */
  readonly wav: string;
  readonly carrier: 'twilio' | 'asterisk';
  /** Asterisk's control messages as releases before 20.18 and 22.8 have them. */
  readonly plainText?: boolean;
  readonly both?: string;
  /** The bridge's media door; by default PORT on this machine, or where the webhook says. */
  readonly url?: string;
  /** A voice webhook to ask first, as Twilio does. */
  readonly voice?: string;
  readonly fast?: boolean;
  readonly jitterMs: number;
  readonly loss: number;
  readonly reorder: number;
  readonly seed: number;
  readonly dtmf?: readonly KeyPress[];
  readonly dropAfterMs?: number;
  readonly from: string;
  readonly to: string;
  readonly param: Readonly<Record<string, string>>;
  readonly json?: boolean;
}

/** Places the call, shows how far it is, and prints how it went. Returns the exit code. */
export async function call(command: CallCommand, settings: Settings, terminal: Terminal): Promise<number> {
  const { id, durationMs, caller } = await (command.carrier === 'asterisk' ? asteriskCall : twilioCall)(command, settings);
  const interruption = new Interruption(() => caller.hangup());
  const report = await showProgress({ id, durationMs, caller }, terminal).finally(() => interruption.ignore());
  print(id, report, command, terminal);
  if (interruption.came) return EXIT_INTERRUPTED;
  return isAsOrdered(report, command) ? EXIT_OK : EXIT_FAILED;
}

async function twilioCall(command: CallCommand, settings: Settings): Promise<Placed> {
  const [inbound = new Int16Array(0)] = await loadAudio(command.wav, MULAW_8K.rateHz, 'mix');
  const [outbound] = command.both === undefined ? [] : await loadAudio(command.both, MULAW_8K.rateHz, 'mix');
  const callSid = `CA${randomUUID().replaceAll('-', '')}`;
  const order = await orderStream(command, settings, callSid);
  const caller = new TwilioCaller({
    url: command.url ?? order.url,
    tracks: outbound === undefined ? { inbound } : { inbound, outbound },
    pace: command.fast === true ? 'fast' : 'realtime',
    clock: systemClock,
    callSid,
    jitterMs: command.jitterMs,
    lossShare: command.loss,
    reorderShare: command.reorder,
    seed: command.seed,
    from: command.from,
    to: command.to,
    parameters: { ...order.parameters, ...command.param },
    authToken: settings.TWILIO_AUTH_TOKEN,
    publicOrigin: settings.PUBLIC_URL,
    ...(command.dtmf === undefined ? {} : { dtmf: command.dtmf }),
    ...(command.dropAfterMs === undefined ? {} : { dropAtMs: command.dropAfterMs }),
  });
  const durationMs = samplesToMs(Math.max(inbound.length, outbound?.length ?? 0), MULAW_8K.rateHz);
  return { id: callSid, durationMs, caller };
}

/** What Twilio has as custom parameters, Asterisk has as channel variables. */
async function asteriskCall(command: CallCommand, settings: Settings): Promise<Placed> {
  const [audio = new Int16Array(0)] = await loadAudio(command.wav, LINEAR_16K.rateHz, 'mix');
  const parameters = Object.entries({ from: command.from, to: command.to, ...command.param });
  const caller = new AsteriskCaller({
    url: command.url ?? `ws://127.0.0.1:${settings.PORT}/asterisk/media`,
    audio,
    codec: LINEAR_16K,
    format: command.plainText === true ? 'plain-text' : 'json',
    pace: command.fast === true ? 'fast' : 'realtime',
    clock: systemClock,
    variables: Object.fromEntries(parameters.map(([name, value]) => [`__TRUNKLINE_${snakeCase(name)}`, value])),
    lossShare: command.loss,
    seed: command.seed,
    user: settings.ASTERISK_USER,
    ...(settings.ASTERISK_PASSWORD === '' ? {} : { password: settings.ASTERISK_PASSWORD }),
    ...(command.dtmf === undefined ? {} : { dtmf: command.dtmf }),
    ...(command.dropAfterMs === undefined ? {} : { dropAtMs: command.dropAfterMs }),
  });
  return { id: caller.channelId, durationMs: samplesToMs(audio.length, LINEAR_16K.rateHz), caller };
}

/** `bargeIn` → `BARGE_IN`. */
function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

/** Where the stream goes and what it brings: as the webhook says if there is one. */
function orderStream({ voice, from, to }: CallCommand, settings: Settings, callSid: string): Promise<StreamOrder> {
  if (voice === undefined) return Promise.resolve({ url: `ws://127.0.0.1:${settings.PORT}/twilio/media`, parameters: {} });
  return askVoiceWebhook({ url: voice, authToken: settings.TWILIO_AUTH_TOKEN, publicOrigin: settings.PUBLIC_URL, callSid, from, to });
}

async function showProgress({ id, durationMs, caller }: Placed, { err }: Terminal): Promise<Report> {
  const draw = () => err.live([{ text: `${id}  ${seconds(caller.sentMs)} of ${seconds(durationMs)} s` }]);
  const timer = systemClock.every(PROGRESS_EVERY_MS, draw);
  try {
    return await caller.run();
  } finally {
    timer.cancel();
    err.live([]);
  }
}

function isAsOrdered({ closeCode }: Report, { dropAfterMs }: CallCommand): boolean {
  return closeCode === 1000 || (dropAfterMs !== undefined && closeCode === 1006);
}

function print(id: string, report: Report, command: CallCommand, { out, err }: Terminal): void {
  if (command.json === true) {
    out.line(JSON.stringify(report));
    return;
  }
  const { sentMs, received, warnings, closeCode, closeReason } = report;
  out.line(`Call      ${id}`);
  out.line(`Sent      ${seconds(sentMs)} s on each track`);
  out.line(`Received  ${received.mediaBytes} bytes of audio, ${received.marks} marks, ${received.clears} clears`);
  out.line(`Closed    ${closeCode}${closeReason === '' ? '' : ` ${closeReason}`}`);
  for (const warning of warnings)
    err.line(`trunkline: ${command.carrier === 'asterisk' ? 'Asterisk would log that' : 'Twilio would warn'} ${warning}`);
  if (!isAsOrdered(report, command)) err.line('trunkline: the bridge ended the call, not the caller');
}

function seconds(durationMs: number): string {
  return (durationMs / 1000).toFixed(1);
}
