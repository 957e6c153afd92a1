/** The check of `trunkline doctor` for chat endpoints: each model that is asked anything is asked for a word. */
import { askChat, type ChatEndpoint } from '../foundation/chat-endpoint.ts';
import { type Clock, systemClock } from '../foundation/clock.ts';
import type { Finding } from '../foundation/finding.ts';
import type { Settings } from '../foundation/settings/settings.ts';

type ChatSettings = Pick<
  Settings,
  `${'LLM' | 'HINTS' | 'TRANSLATE'}_${'BASE_URL' | 'API_KEY' | 'MODEL' | 'TIMEOUT_MS'}`
>;

const PURPOSES = ['LLM', 'HINTS', 'TRANSLATE'] as const;
const ANSWER_MAX_BYTES = 262_144;
const QUESTION = [{ role: 'user', content: 'Answer with the word yes.' }] as const;

/** Whether each endpoint answers, and how long that takes; nothing where none is set. */
export async function checkChat(settings: ChatSettings, clock: Clock = systemClock): Promise<Finding[]> {
  const asked = new Map<string, { readonly endpoint: ChatEndpoint; readonly settings: string[] }>();
  for (const purpose of PURPOSES) {
    const endpoint = endpointOf(settings, purpose);
    if (endpoint.baseUrl === '') continue;
    const key = JSON.stringify([endpoint.baseUrl, endpoint.model, endpoint.apiKey]);
    const known = asked.get(key) ?? { endpoint, settings: [] };
    known.settings.push(`${purpose}_MODEL`);
    asked.set(key, known);
  }
  return Promise.all(
    [...asked.values()].map(({ endpoint, settings: names }) => ask(endpoint, names.join(', '), clock)),
  );
}

function endpointOf(settings: ChatSettings, purpose: (typeof PURPOSES)[number]): ChatEndpoint {
  return {
    baseUrl: settings[`${purpose}_BASE_URL`],
    apiKey: settings[`${purpose}_API_KEY`],
    model: settings[`${purpose}_MODEL`],
    timeoutMs: settings[`${purpose}_TIMEOUT_MS`],
  };
}

async function ask(endpoint: ChatEndpoint, settings: string, clock: Clock): Promise<Finding> {
  const name = 'chat';
  const { host } = new URL(endpoint.baseUrl);
  if (endpoint.model === '')
    return { name, status: 'warn', detail: `${host} (${settings}) is not asked for anything: set the name of a model` };
  const beganMs = clock.nowMs();
  const { signal } = new AbortController();
  const answer = await askChat(endpoint, QUESTION, { clock, signal, answerMaxBytes: ANSWER_MAX_BYTES });
  const tookMs = Math.round(clock.nowMs() - beganMs);
  if (answer.ok)
    return { name, status: 'ok', detail: `${endpoint.model} at ${host} (${settings}) answered in ${tookMs} ms` };
  const remedy = 'look at its address, which ends with /v1, at the key and at the name of the model';
  return { name, status: 'fail', detail: `${endpoint.model} at ${host} (${settings}): ${answer.complaint}: ${remedy}` };
}
