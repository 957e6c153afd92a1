/** Who answers in Realtime sessions: the operator's app, else a chat endpoint, else nobody. */
import type { Clock } from '../../foundation/clock.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { AppBrain, type AppBrainSettings } from './app-brain.ts';
import type { Brain, BrainEvents } from './brain.ts';
import { ChatBrain } from './chat-brain.ts';
import type { BrainSession } from './socket.ts';
import { brainOf, type ChoiceSettings } from './which-brain.ts';

/** The settings that say who it is. */
export type BrainSettings = AppBrainSettings & ChoiceSettings & Pick<Settings, 'LLM_API_KEY' | 'LLM_TIMEOUT_MS'>;

/** What opens one for each session; null = nobody answers. */
export function brainOpener(
  settings: BrainSettings,
  clock: Clock,
): ((session: BrainSession, events: BrainEvents) => Brain) | null {
  const brain = brainOf(settings);
  if (brain === null) return null;
  const url = settings.REALTIME_APP_URL || settings.APP_URL;
  if (brain === 'app')
    return ({ id, model }, events) => new AppBrain({ url, settings, sessionId: id, model, clock, events });
  const { LLM_BASE_URL, LLM_API_KEY, LLM_MODEL, LLM_TIMEOUT_MS } = settings;
  const endpoint = { baseUrl: LLM_BASE_URL, apiKey: LLM_API_KEY, model: LLM_MODEL, timeoutMs: LLM_TIMEOUT_MS };
  return ({ newCallId }, events) => new ChatBrain({ endpoint, clock, newCallId, events });
}
