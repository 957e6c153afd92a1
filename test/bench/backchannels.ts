/**
 * What callers say into our speech: words of a listener who agrees, which are no interruption, and interruptions.
 * Spoken by our own voices into a greeting, and hummed, in real calls; counted is what cuts the greeting off.
 */
import { readFeed } from '../helpers/feed.ts';
import { startGateway } from '../helpers/gateway.ts';
import { TEST_MODELS_DIR } from '../helpers/installed-models.ts';
import { gaussian, LINE_RATE_HZ, pinkNoise } from '../helpers/signals.ts';
import { HUMS, synthesizeHum } from './hums.ts';
import { placePatiently } from './patient-call.ts';
import { concatenate } from './prompts.ts';
import { figure, type Table } from './report.ts';
import { startEngineClient } from './start-engine-client.ts';
import { ListeningApp } from './turn-app.ts';
import { toLineRate } from './whole-recordings.ts';

/** What a listener says who wants us to go on. */
export const AGREEMENTS = [
  'Uh-huh.',
  'Okay.',
  'Right.',
  'Yeah.',
  'Yes.',
  'I see.',
  'Sure.',
  'Got it.',
  'All right.',
  'Oh, okay.',
  'Yeah, yeah.',
  'That makes sense.',
];

/** What a caller says who wants us to stop. */
export const INTERRUPTIONS = [
  'No.',
  'Stop.',
  'Wait a moment.',
  'No, that is wrong.',
  'Excuse me.',
  'Hold on, please.',
  'What did you say?',
  'Cancel my order.',
  'Okay, but my number is different.',
  'I want to speak to an agent.',
  'Yes, but not today.',
  'Hello?',
];

const VOICES = ['rms', 'slt', 'awb', 'kal', 'hibari:heart'];
const GREETING =
  'Thank you for calling. Your order was sent on Monday, and it should be with you on Thursday, or on Friday at the ' +
  'latest. If you are not at home, the driver leaves it with a neighbour, and you find a card in your letter box.';
/** The caller speaks so long after the greeting has begun. */
const BEFORE_MS = 2500;
const AFTER_MS = 2000;
const CALLS_AT_ONCE = 10;
/** What stands for the voice of a hum. */
const HUM = 'hum from';
/** Noise of a quiet line, 66 dB below full scale. */
const LINE_RMS = 0.0005;

/** One utterance of one voice, 8 kHz. */
export interface SpokenCase {
  readonly isAgreement: boolean;
  readonly text: string;
  readonly voice: string;
  readonly samples: Int16Array;
}

/** Every `every`-th text in every voice that is there, and hums. */
export async function speakCases(every: number): Promise<SpokenCase[]> {
  const engine = await startEngineClient(1, { MODELS_DIR: TEST_MODELS_DIR || 'none' });
  const voices = VOICES.filter((voice) => engine.voices.some(({ name }) => name === voice));
  const cases: SpokenCase[] = [];
  for (const text of [...AGREEMENTS, ...INTERRUPTIONS].filter((_, index) => index % every === 0)) {
    for (const voice of voices) {
      const request = { text, voice, speed: 1, urgency: 'batch', dueInMs: 600_000 } as const;
      const { samples, rateHz } = await engine.speak(request);
      cases.push({ isAgreement: AGREEMENTS.includes(text), text, voice, samples: toLineRate(samples, rateHz) });
    }
  }
  await engine.close();
  const hums = HUMS.filter((_, index) => index % every === 0);
  for (const hum of hums)
    cases.push({ isAgreement: true, text: hum.text, voice: `${HUM} ${hum.fromHz} Hz`, samples: synthesizeHum(hum) });
  return cases;
}

/** A case, and whether it cut the greeting off. */
export interface BargeInFound extends SpokenCase {
  readonly interrupted: boolean;
  /** What was understood. */
  readonly heard: string;
}

/** Says every case into the greeting of a call of its own. */
export async function measureBargeIn(cases: readonly SpokenCase[]): Promise<BargeInFound[]> {
  const app = await ListeningApp.open();
  const gateway = await startGateway({ APP_URL: app.url, APP_GREETING: GREETING, MAX_CALLS: '1000' });
  const feed = await readFeed(gateway.url);
  const noise = pinkNoise(10, LINE_RMS, gaussian(6));
  const line = (ms: number) => noise.subarray(0, (ms * LINE_RATE_HZ) / 1000);
  const found: BargeInFound[] = [];
  const waiting = [...cases.entries()];
  const lines = Array.from({ length: CALLS_AT_ONCE }, async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, spoken] = next;
      const callSid = `CAbarge${index}`;
      const inbound = concatenate([line(BEFORE_MS), spoken.samples, line(AFTER_MS)]);
      await placePatiently(gateway.url, callSid, inbound);
      await feed.until((event) => event.type === 'call.ended' && event.callId === callSid);
      const heard = feed
        .finals(callSid)
        .filter(({ track }) => track === 'inbound')
        .map(({ text }) => text)
        .join(' ');
      found.push({ ...spoken, heard, interrupted: app.interruptsOf(callSid) > 0 });
    }
  });
  await Promise.all(lines);
  feed.close();
  await gateway.stop();
  await app.close();
  return found;
}

/** What cut the greeting off, by what it was. */
export function bargeInTable(found: readonly BargeInFound[]): Table {
  const kinds = [
    { name: 'hum ("mm", "mm-hm")', of: found.filter(({ voice }) => voice.startsWith(HUM)) },
    {
      name: 'agreement ("uh-huh", "okay", "right")',
      of: found.filter(({ isAgreement, voice }) => isAgreement && !voice.startsWith(HUM)),
    },
    { name: 'interruption ("stop", "no, that is wrong")', of: found.filter(({ isAgreement }) => !isAgreement) },
  ];
  return {
    title: 'Said into our speech, by our own voices',
    heads: ['', 'said', 'cut our speech off', 'those that were wrong, as understood'],
    rows: kinds.map(({ name, of }) => {
      const cut = of.filter(({ interrupted }) => interrupted);
      const wrong = of.filter(({ interrupted, isAgreement }) => interrupted === isAgreement);
      const shown = [...new Set(wrong.map(({ text, heard }) => `${text} → "${heard}"`))].slice(0, 8);
      return [name, of.length, `${figure((100 * cut.length) / of.length)} %`, shown.join('; ') || '–'];
    }),
  };
}
