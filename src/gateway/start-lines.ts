/** The first lines on a terminal: the address of the gateway, its state, and what to do next. */
import { COMMAND, typedPath } from '../foundation/folders/paths.ts';
import { isLoopback } from '../foundation/settings/config.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import type { KeptRecords } from './main.ts';

const DEFAULT_PORT = '8080';

type StartSettings = Pick<
  Settings,
  'HOST' | 'PUBLIC_URL' | 'API_KEYS' | 'ENGINE_PRELOAD' | 'TWILIO_AUTH_TOKEN' | 'RECORD' | 'RECORD_KEY' | 'sources'
>;

/** Another server that is told what is said in calls. */
interface Departure {
  readonly what: string;
  /** Its origin. */
  readonly to: string;
  /** It is on another machine. */
  readonly leavesMachine: boolean;
}

interface StartFacts {
  readonly version: string;
  readonly url: string;
  readonly workers: number;
  readonly kept: KeptRecords | null;
  readonly users: number;
  readonly departures: readonly Departure[];
}

/**
 * The lines for a gateway of this `version` that listens at `url` (`http://host:port`) and is to have so many engine
 * processes, and so many users. `kept` = null: nothing is kept of calls.
 */
export function startLines(settings: StartSettings, facts: StartFacts): string[] {
  const { version, url, workers, kept, users, departures } = facts;
  return [
    `Trunkline ${version} is at ${url}/ ${audienceOf(settings, users)}${fileOf(settings)}`,
    settings.ENGINE_PRELOAD
      ? `  Loading the speech models in ${countEngines(workers)}. A line says when calls can be captioned.`
      : '  The speech models are loaded at the first call.',
    recordsLine(kept),
    ...soundLines(settings),
    ...departureLines(departures),
    ...callLines(settings, url),
    '  To end it: Ctrl-C.',
    '',
  ];
}

function fileOf({ sources: { filePath } }: StartSettings): string {
  return filePath === null ? '' : `, with the settings in ${filePath}`;
}

function recordsLine(kept: KeptRecords | null): string {
  if (kept === null) return '  Nothing is kept of calls (DATA_DIR).';
  const { place, retentionDays, isOpen } = kept;
  if (!isOpen) return `  The records in ${place} cannot be opened yet: what is said waits in memory. The log says why.`;
  const howLong = retentionDays === 0 ? 'for ever' : `for ${retentionDays} ${retentionDays === 1 ? 'day' : 'days'}`;
  return `  What is said in calls is kept ${howLong} (RETENTION_DAYS) in ${place}`;
}

const SOUND_KEPT = { caller: 'The sound of callers is', both: 'The sound of calls is' } as const;

function soundLines({ RECORD, RECORD_KEY }: StartSettings): string[] {
  if (RECORD === 'off') return [];
  const how = RECORD_KEY === '' ? 'not encrypted: set RECORD_KEY' : 'encrypted';
  return [`  ${SOUND_KEPT[RECORD]} kept too (RECORD=${RECORD}), ${how}.`];
}

function departureLines(departures: readonly Departure[]): string[] {
  const out = departures.filter(({ leavesMachine }) => leavesMachine).map(({ what, to }) => `${what} at ${to}`);
  return out.length === 0 ? [] : [`  What is said leaves this machine: ${out.join(', ')}.`];
}

interface UsedModels {
  /** ASR_FINAL_MODEL; '' = there is one recogniser. */
  readonly finalModel: string;
  readonly voice: string | null;
  readonly turnModel: string | null;
}

/** The line for engines of which the first one is ready; `voice` speaks texts that name none. */
export function readyLine(ready: number, workers: number, { finalModel, voice, turnModel }: UsedModels): string {
  const used = [
    finalModel === '' ? '' : `, finals by ${finalModel}`,
    voice === null ? '' : `, voice ${voice}`,
    turnModel === null ? '' : `, turns by ${turnModel}`,
  ];
  return `Ready for calls: ${ready} of ${countEngines(workers)}${used.join('')}.`;
}

function countEngines(workers: number): string {
  return workers === 1 ? '1 engine' : `${workers} engines`;
}

function audienceOf({ HOST, PUBLIC_URL, API_KEYS }: StartSettings, users: number): string {
  if (isLoopback(HOST) && PUBLIC_URL === '') return '(for this machine alone)';
  const outside = PUBLIC_URL === '' ? '' : `and ${PUBLIC_URL}/ `;
  if (users > 0) return `${outside}(requires a password or a key)`;
  return `${outside}${API_KEYS.length > 0 ? '(requires one of API_KEYS)' : '(open to everyone who can reach it)'}`;
}

/** A call token of the webhook is needed where Twilio signs, so a bare call would be refused there. */
function callLines({ TWILIO_AUTH_TOKEN }: StartSettings, url: string): string[] {
  const { port } = new URL(url);
  const environment = port === DEFAULT_PORT ? '' : `PORT=${port} `;
  if (TWILIO_AUTH_TOKEN !== '')
    return ['  To place a call: open that page and press Call, or call your Twilio number.'];
  return [
    '  To place a call: open that page and press Call, or type in another terminal',
    `    ${environment}${COMMAND} call ${typedPath('fixtures', 'audio', 'demo-caller.wav')}`,
  ];
}
