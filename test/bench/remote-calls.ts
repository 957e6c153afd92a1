/** Calls whose speech one other Trunkline reads, alone and beside recordings that it reads as well. */
import { startGateway } from '../helpers/gateway.ts';
import { finalLagMs, type Phase, runPhase } from './mixed.ts';
import { loadPrompts } from './prompts.ts';
import { recordingOf } from './recordings.ts';
import { figure, quantile, type Report } from './report.ts';

/** So much later may finals be beside recordings. */
const RATIO_MAX = 1.25;

/** How many calls and recordings share the server, and how long. */
export interface SharedRemoteOptions {
  readonly calls: number;
  readonly recordings: number;
  readonly seconds: number;
  readonly fileSeconds: number;
}

/** A table and a goal of {@link benchRemote}. The reading Trunkline is a new one in each phase. */
export async function measureSharedRemote(
  options: SharedRemoteOptions,
): Promise<{ readonly table: Report['tables'][number]; readonly goals: Report['goals'] }> {
  const { samples } = recordingOf(loadPrompts(), options.fileSeconds);
  const alone = await runShared(options, 'calls alone', null);
  const beside = await runShared(options, `beside ${options.recordings} recordings`, samples);
  const ratio = finalLagMs(beside, 0.95) / finalLagMs(alone, 0.95);
  return {
    table: {
      title: `${options.calls} calls of ${options.seconds} s on one server, finals and partials in ms`,
      heads: ['', 'finals', 'final p50', 'p95', 'most', 'partial p95', 'partials dropped', 'recordings, × real time'],
      rows: [alone, beside].map((phase) => [
        phase.name,
        phase.lateMs.length,
        ...[0.5, 0.95, 1].map((share) => figure(finalLagMs(phase, share))),
        figure(quantile(phase.partialLagMs, 0.95)),
        figure(phase.partialsDropped),
        figure(phase.fileSeconds / phase.seconds, 1),
      ]),
    },
    goals: [
      {
        goal: `final lag p95 of ${options.calls} calls on one server, beside recordings ≤ ${RATIO_MAX} × alone`,
        found: `${figure(ratio, 2)} ×`,
        met: ratio <= RATIO_MAX,
      },
    ],
  };
}

async function runShared(
  { calls, recordings, seconds }: SharedRemoteOptions,
  name: string,
  recording: Int16Array | null,
): Promise<Phase> {
  const reader = await startGateway();
  try {
    const environment = { ASR_URL: reader.url, MAX_CALLS: String(calls) };
    return await runPhase({ name, calls, seconds, recording, recordings, environment });
  } finally {
    await reader.stop('SIGKILL');
  }
}
