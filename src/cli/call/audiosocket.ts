/** A call of `trunkline call` as an Asterisk's AudioSocket() places it. */

import {
  AudioSocketCaller,
  type AudioSocketCallReport,
  type AudioSocketEnd,
} from '../../carriers/audiosocket/simulator/caller.ts';
import { systemClock } from '../../foundation/clock.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { type Codec, samplesToMs } from '../../foundation/units.ts';
import { describeAnswer } from '../../simulator/http-answer.ts';
import { loadAudio } from '../audio-file.ts';
import { originOn } from '../server-client.ts';
import type { CallOptions, CallOutcome, PlacedCall } from './call-options.ts';

/** What the application always speaks. */
const LINEAR_8K: Codec = { name: 'pcm16', rateHz: 8000, channels: 1, bytesPerSample: 2 };
const ANNOUNCE_TIMEOUT_MS = 5000;
const ENDS: Readonly<Record<AudioSocketEnd, string>> = {
  caller: 'by the caller',
  bridge: 'by the server',
  asterisk: 'by Asterisk',
  lost: 'the connection was lost',
};

/** One call, announced at the server's HTTP endpoint before as a dialplan would. @throws Error as `PlaceCall` says */
export async function placeAudioSocketCall(options: CallOptions, settings: Settings): Promise<PlacedCall> {
  const { host, port } = addressOf(options, settings);
  const [audio = new Int16Array(0)] = await loadAudio(options.wav, LINEAR_8K.rateHz, 'mix');
  const caller = new AudioSocketCaller({
    host,
    port,
    audio,
    codec: LINEAR_8K,
    driver: 'application',
    pace: options.fast === true ? 'fast' : 'realtime',
    clock: systemClock,
    lossShare: options.loss,
    seed: options.seed,
    ...(options.dtmf === undefined ? {} : { dtmf: options.dtmf }),
    ...(options.dropAfterMs === undefined ? {} : { dropAtMs: options.dropAfterMs }),
  });
  await announce(`${originOn(host, settings)}/asterisk/calls/${caller.uuid}`, options, settings);
  return {
    id: caller.uuid,
    durationMs: samplesToMs(audio.length, LINEAR_8K.rateHz),
    sentMs: () => caller.sentMs,
    run: async () => outcomeOf(await caller.run()),
    hangup: () => caller.hangup(),
  };
}

function addressOf({ url }: CallOptions, { AUDIOSOCKET_PORT }: Settings): { host: string; port: number } {
  if (url === undefined && AUDIOSOCKET_PORT === 0)
    throw new Error('set AUDIOSOCKET_PORT as the server has it, or give --url tcp://host:port');
  const { hostname, port } = new URL(url ?? `tcp://127.0.0.1:${AUDIOSOCKET_PORT}`);
  if (port === '') throw new Error('--url: expected a port, as in tcp://127.0.0.1:9019');
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) };
}

/** What Twilio has as custom parameters, AudioSocket has not: it is told beforehand. */
async function announce(url: string, { from, to, param }: CallOptions, settings: Settings): Promise<void> {
  const credentials = Buffer.from(`${settings.ASTERISK_USER}:${settings.ASTERISK_PASSWORD}`).toString('base64');
  const answer = await fetch(url, {
    method: 'POST',
    body: new URLSearchParams({ from, to, ...param }),
    headers: settings.ASTERISK_PASSWORD === '' ? {} : { authorization: `Basic ${credentials}` },
    signal: AbortSignal.timeout(ANNOUNCE_TIMEOUT_MS),
  }).catch((error: Error) => {
    throw new Error(
      `the server did not accept the announcement of the call at ${url}: ${String(error.cause ?? error.message)}`,
    );
  });
  const text = await answer.text();
  if (!answer.ok)
    throw new Error(`the server did not accept the announcement of the call: ${describeAnswer(answer.status, text)}`);
}

function outcomeOf(report: AudioSocketCallReport): CallOutcome {
  const { sentMs, heardMs, clippedMs, longestGapMs, endedBy, reason, warnings } = report;
  return {
    sentMs,
    received: `${heardMs} ms of audio, ${clippedMs} ms clipped, longest gap ${Math.round(longestGapMs)} ms`,
    ended: ENDS[endedBy] + (reason === '' ? '' : `: ${reason}`),
    asPlanned: endedBy === 'caller',
    warnings,
    report,
  };
}
