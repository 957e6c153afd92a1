/** `trunkline call`: places a simulated call with a running server, as one of the carriers. */
import type { EndReason } from '../calls/feed/events.ts';
import { systemClock } from '../foundation/clock.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import type { CallOptions, CallOutcome, PlacedCall } from './call/call-options.ts';
import { CALL_CARRIERS, type CarrierName } from './call/carriers.ts';
import { askEndReason } from './call/end-reason.ts';
import { EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK } from './exit-codes.ts';
import { Interruption } from './interruption.ts';
import { originOn } from './server-client.ts';
import type { Terminal } from './terminal.ts';

const PROGRESS_EVERY_MS = 200;
/** The reason in `call.ended`. */
const APP_UNREACHABLE = 'app_unreachable' satisfies EndReason;

/** The options of the command, checked. */
export interface CallCommand extends CallOptions {
  readonly carrier: CarrierName;
  readonly json?: boolean;
}

/** Places the call, shows its progress and prints the result. Returns the exit code. */
export async function call(command: CallCommand, settings: Settings, terminal: Terminal): Promise<number> {
  const place = await CALL_CARRIERS[command.carrier].load();
  const placed = await place(command, settings);
  const interruption = new Interruption(placed.hangup);
  const outcome = await showProgress(placed, terminal).finally(() => interruption.ignore());
  const endReason = await askEndReason(callUrl(placed.id, command, settings), settings.API_KEYS[0]);
  print(placed.id, outcome, command, terminal);
  if (endReason === APP_UNREACHABLE)
    terminal.err.line('trunkline: the server could not reach its app in this call; its log says which app and why');
  if (command.json !== true) terminal.out.line(`Captions  ${transcriptUrl(placed.id, command, settings)}`);
  if (interruption.came) return EXIT_INTERRUPTED;
  return outcome.asPlanned && endReason !== APP_UNREACHABLE ? EXIT_OK : EXIT_FAILED;
}

async function showProgress({ id, durationMs, sentMs, run }: PlacedCall, { err }: Terminal): Promise<CallOutcome> {
  const draw = () => err.live([{ text: `${id}  ${seconds(sentMs())} of ${seconds(durationMs)} s` }]);
  const timer = systemClock.every(PROGRESS_EVERY_MS, draw);
  try {
    return await run();
  } finally {
    timer.cancel();
    err.live([]);
  }
}

/**
 * The URL of the transcript: at the host and port of a WebSocket URL; of other URLs only the host is used.
 */
export function transcriptUrl(
  id: string,
  options: Pick<CallOptions, 'url' | 'voice'>,
  settings: Pick<Settings, 'PORT' | 'TLS_CERT'>,
): string {
  return `${callUrl(id, options, settings)}/transcript?format=text`;
}

function callUrl(
  id: string,
  { url, voice }: Pick<CallOptions, 'url' | 'voice'>,
  settings: Pick<Settings, 'PORT' | 'TLS_CERT'>,
): string {
  const path = `/v1/calls/${id}`;
  const web = url?.replace(/^ws/, 'http') ?? voice ?? originOn('127.0.0.1', settings);
  if (web.startsWith('http')) return new URL(path, web).href;
  const host = /^(?:tcp:\/\/|sips?:(?:[^@]*@)?)(\[[^\]]*\]|[^:;?/]*)/.exec(web)?.[1] ?? '127.0.0.1';
  return originOn(host, settings) + path;
}

function print(id: string, outcome: CallOutcome, command: CallCommand, { out, err }: Terminal): void {
  if (command.json === true) {
    out.line(JSON.stringify(outcome.report));
    return;
  }
  out.line(`Call      ${id}`);
  out.line(`Sent      ${seconds(outcome.sentMs)} s${command.both === undefined ? '' : ' on each track'}`);
  out.line(`Received  ${outcome.received}`);
  out.line(`Closed    ${outcome.ended}`);
  const { label } = CALL_CARRIERS[command.carrier];
  for (const warning of outcome.warnings) err.line(`trunkline: ${label} would warn ${warning}`);
  if (!outcome.asPlanned) err.line(`trunkline: the server ended the call, not the caller: ${outcome.ended}`);
}

function seconds(durationMs: number): string {
  return (durationMs / 1000).toFixed(1);
}
