import type { Context } from '@opentelemetry/api';
import { LATE_MS } from '../calls/inbound/lag.ts';
import type { Track } from '../protocols/dialect.ts';
import type { SettledUtterance } from '../transcription/live-transcriber.ts';
import type { SpanMaker } from './span-maker.ts';

interface Utterance {
  readonly callId: string;
  readonly track: Track;
  readonly settled: SettledUtterance;
  readonly isEcho: boolean;
}

/**
 * `utterance`, from the first speech to its final, and in it `endpoint` (silence, until the end was decided), `queue`
 * and `run` (the decode), `caption` (from when end and text were known until the final was out).
 */
export function makeUtterance(maker: SpanMaker, parent: Context, { callId, track, settled, isEcho }: Utterance): void {
  const { startedMs, stoppedMs, decidedMs, settledMs, decode, failures } = settled;
  const context = maker.past(parent, {
    name: 'utterance',
    startMs: startedMs,
    endMs: settledMs,
    error: settled.lostMs > 0 ? 'final_lost' : null,
    attributes: {
      'trunkline.call.id': callId,
      'trunkline.track': track,
      'trunkline.utterance': settled.utterance,
      'trunkline.utterance.audio_ms': Math.round(settled.speechMs),
      'trunkline.utterance.final': settled.hasFinal ? settled.how : 'none',
      'trunkline.utterance.cut': settled.isCut,
      'trunkline.utterance.late': settledMs - decidedMs > LATE_MS,
      'trunkline.utterance.echo': isEcho,
      'trunkline.utterance.lost_ms': Math.round(settled.lostMs),
      'trunkline.utterance.failed_decodes': failures,
    },
  });
  if (!settled.isCut) maker.past(context, { name: 'endpoint', startMs: stoppedMs, endMs: decidedMs });
  if (decode !== null) {
    const { askedMs, answeredMs, cost } = decode;
    const begunMs = Math.min(askedMs + cost.waitMs, answeredMs);
    maker.past(context, { name: 'queue', startMs: askedMs, endMs: begunMs });
    const attributes = { 'trunkline.engine.run_ms': Math.round(cost.runMs), 'trunkline.engine.runs': cost.runs };
    maker.past(context, { name: 'run', startMs: begunMs, endMs: answeredMs, attributes });
  }
  if (settled.hasFinal) {
    const startMs = Math.max(decidedMs, decode?.answeredMs ?? decidedMs);
    maker.past(context, { name: 'caption', startMs, endMs: settledMs });
  }
}
