/** Which chat endpoint each part asks: that of its old names, else LLM_*. */
import type { Settings } from './settings.ts';

const PURPOSES = ['TRANSLATE', 'HINTS'] as const;

/**
 * Writes out TRANSLATE_* and HINTS_* where LLM_* stands for them. A key goes only to the server that it was given for.
 * A model is asked for hints only when a HINTS_ setting asks for one: what is said in calls is sent to it unasked,
 * unlike what is to be translated.
 * @returns one line for each contradiction
 */
export function resolveChatEndpoints(values: Record<string, unknown>): string[] {
  const { LLM_BASE_URL, LLM_API_KEY, LLM_MODEL, LLM_TIMEOUT_MS, HINTS_BASE_URL, HINTS_MODEL } = values as Settings;
  const asksForHints = HINTS_BASE_URL !== '' || HINTS_MODEL !== '';
  for (const purpose of PURPOSES) {
    values[`${purpose}_TIMEOUT_MS`] ||= LLM_TIMEOUT_MS;
    if (purpose === 'HINTS' && !asksForHints) continue;
    values[`${purpose}_BASE_URL`] ||= LLM_BASE_URL;
    values[`${purpose}_MODEL`] ||= LLM_MODEL;
    if (isSameServer(values[`${purpose}_BASE_URL`], LLM_BASE_URL)) values[`${purpose}_API_KEY`] ||= LLM_API_KEY;
  }
  const resolved = values as Settings;
  if (asksForHints && resolved.HINTS_BASE_URL === '') return ['HINTS_MODEL needs a chat endpoint: set LLM_BASE_URL'];
  if (asksForHints && resolved.HINTS_MODEL === '')
    return ['HINTS_BASE_URL needs the name of a model: set HINTS_MODEL or LLM_MODEL'];
  return [];
}

function isSameServer(url: unknown, other: string): boolean {
  return typeof url === 'string' && url !== '' && other !== '' && new URL(url).origin === new URL(other).origin;
}
