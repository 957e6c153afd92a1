/** What a Realtime session that answers is to say and how: the parts of `session` beside `audio.input`. */
import { isObject, type Json } from '../../../protocols/json.ts';
import { DEFAULT_FORMAT, readSoundFormat, type SoundFormat } from './sound-format.ts';

/** A function that the language model may ask the client to call. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** Its JSON Schema, as JSON. */
  readonly parametersJson: string;
}

/** The effective settings of what is answered. */
export interface OutputConfig {
  readonly instructions: string;
  /** A name of ours or of others, or an id; empty = the default voice. */
  readonly voice: string;
  readonly speed: number;
  readonly format: SoundFormat;
  /** Whether answers are spoken; otherwise they are text alone. */
  readonly isSpoken: boolean;
  readonly tools: readonly Tool[];
  /** `auto`, `none`, `required` or the name of one function. */
  readonly toolChoice: string;
  /** Most tokens of an answer; null = as many as the model likes. */
  readonly maxOutputTokens: number | null;
}

/** Of a new session. */
export const DEFAULT_OUTPUT: OutputConfig = Object.freeze({
  instructions: '',
  voice: '',
  speed: 1,
  format: DEFAULT_FORMAT,
  isSpoken: true,
  tools: [],
  toolChoice: 'auto',
  maxOutputTokens: null,
});

/** Most functions of a session. */
const TOOLS_MAX = 128;
const INSTRUCTIONS_MAX_CHARS = 65_536;
const NAME_MAX_CHARS = 256;
const DESCRIPTION_MAX_CHARS = 8192;
const SPEED_MIN = 0.25;
const SPEED_MAX = 4;

/** What `session` (or the `response` of `response.create`) asks for. What is missing or makes no sense stays. */
export function readOutputConfig(session: Json, current: OutputConfig): OutputConfig {
  const { instructions, tools, audio } = session;
  const output = isObject(audio) && isObject(audio['output']) ? audio['output'] : {};
  const tokens = session['max_output_tokens'] ?? session['max_response_output_tokens'];
  const speed = output['speed'] ?? session['speed'];
  return {
    instructions:
      typeof instructions === 'string' ? instructions.slice(0, INSTRUCTIONS_MAX_CHARS) : current.instructions,
    voice: readVoice(output['voice'] ?? session['voice']) ?? current.voice,
    speed: typeof speed === 'number' ? Math.min(Math.max(speed, SPEED_MIN), SPEED_MAX) : current.speed,
    format: readSoundFormat(output['format'] ?? session['output_audio_format']) ?? current.format,
    isSpoken: readIsSpoken(session['output_modalities'] ?? session['modalities']) ?? current.isSpoken,
    tools: Array.isArray(tools) ? tools.slice(0, TOOLS_MAX).flatMap(readTool) : current.tools,
    toolChoice: readToolChoice(session['tool_choice']) ?? current.toolChoice,
    maxOutputTokens: readTokens(tokens, current.maxOutputTokens),
  };
}

function readVoice(value: unknown): string | null {
  const name = isObject(value) ? value['id'] : value;
  return typeof name === 'string' && name.length <= NAME_MAX_CHARS ? name : null;
}

function readIsSpoken(value: unknown): boolean | null {
  return Array.isArray(value) && value.length > 0 ? value.includes('audio') : null;
}

function readTokens(value: unknown, current: number | null): number | null {
  if (value === 'inf') return null;
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 ? value : current;
}

/** OpenAI's forms: a word, `{"type":"function","name"}`, and the same within `function`. */
function readToolChoice(value: unknown): string | null {
  if (value === 'auto' || value === 'none' || value === 'required') return value;
  if (!isObject(value)) return null;
  const { name } = isObject(value['function']) ? value['function'] : value;
  return typeof name === 'string' && name.length <= NAME_MAX_CHARS ? name : null;
}

/** Tools of other kinds (MCP) are run by OpenAI's servers; nobody runs them here. */
function readTool(value: unknown): Tool[] {
  if (!isObject(value) || (value['type'] ?? 'function') !== 'function') return [];
  const { name, description = '', parameters = {} } = value;
  if (typeof name !== 'string' || name === '' || name.length > NAME_MAX_CHARS) return [];
  const parametersJson = toJson(isObject(parameters) ? parameters : {});
  if (parametersJson === null) return [];
  const words = typeof description === 'string' ? description.slice(0, DESCRIPTION_MAX_CHARS) : '';
  return [{ name, description: words, parametersJson }];
}

/** Null = it is nested too deep to be written. */
function toJson(value: Json): string | null {
  try {
    return JSON.stringify(value);
  } catch {
    return null;
  }
}

/** The tools as a session tells them. */
export function writeTools(tools: readonly Tool[]): Json[] {
  return tools.map(({ name, description, parametersJson }) => ({
    type: 'function',
    name,
    description,
    parameters: JSON.parse(parametersJson),
  }));
}

/** The choice as a session tells it. */
export function writeToolChoice(choice: string): unknown {
  return ['auto', 'none', 'required'].includes(choice) ? choice : { type: 'function', name: choice };
}
