/**
 * Clients of the Qwen3 servers (github.com/jaaacki/qwen3-tts and qwen3-asr) on the paths of OpenAI, which those servers
 * have too. The model decides.
 */
import type { Metrics } from '../../foundation/metrics.ts';
import type { ClientFamily, ClientFields, ModelKind } from '../../http/server/client-families.ts';
import { isQwenVoice } from '../../speech/foreign-voices.ts';
import { qwenStatus, toQwenError } from './wire/errors.ts';

const QWEN_MODEL = /^(?:qwen\/)?qwen3-/i;

/** The names of their models; each stands for the loaded one. */
const QWEN_MODELS: ClientFamily['models'] = {
  recogniser: { listed: ['qwen3-asr'], taken: /^(?:qwen\/)?qwen3-asr(?:-[\w.-]+)?$/i },
  voice: { listed: ['qwen3-tts'], taken: /^(?:qwen\/)?qwen3-tts(?:-[\w.-]+)?$/i },
} satisfies Record<ModelKind, unknown>;

/** The Qwen3-TTS server's examples name no model, but a voice only it has. */
function sendsFields({ model, voice }: ClientFields): boolean | null {
  if (typeof model === 'string' && model !== '') return QWEN_MODEL.test(model);
  return typeof voice === 'string' && isQwenVoice(voice) ? true : null;
}

/** The family. Its requests are counted, so that an operator sees when the last client has moved. */
export function qwenFamily(metrics: Pick<Metrics, 'qwenRequests'>): ClientFamily {
  return {
    models: QWEN_MODELS,
    sends: sendsFields,
    statusFor: qwenStatus,
    errorBody: toQwenError,
    wantsWholeWav: true,
    wantsLanguage: true,
    onAnswered: (route) => metrics.qwenRequests.inc({ route }),
  };
}
