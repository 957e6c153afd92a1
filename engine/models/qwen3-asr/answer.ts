/** From what is known of a text to what the decoder is asked for. */
import type { ReadingOptions } from '../model.ts';
import type { TextRequest } from './parts.ts';
import { answerIn, type PromptWriter } from './prompt.ts';
import { fixText, partsOf } from './rollback.ts';
import type { QwenTokenizer, TextPart } from './tokenizer.ts';

/** How an answer begins. */
export interface AnswerStart {
  /** What stands in the prompt. */
  readonly parts: readonly TextPart[];
  /** The tokens of an earlier text among them, which are not written again. */
  readonly fixed: readonly number[];
  /** What is likely to come behind it. */
  readonly draft: readonly number[];
  /** Where it is in another language than was assumed: {@link TextRequest.redraft}. */
  readonly redraft?: TextRequest['redraft'];
}

/** An earlier text, and what it is for. */
export interface EarlierText extends Pick<ReadingOptions, 'draftText'> {
  /** Tokens of an earlier text of this recogniser. */
  readonly draft: readonly number[];
  /** Whether all of it but its end is to stay as it is. */
  readonly isFixed: boolean;
  /** What the model calls the language: told, and the one that is assumed where none is. */
  readonly told: string | null;
  readonly assumed: string;
}

/** Plans how answers begin. */
export class AnswerPlanner {
  readonly #tokenizer: QwenTokenizer;
  readonly #textTag: number;
  readonly #prompts: PromptWriter;

  constructor(tokenizer: QwenTokenizer, prompts: PromptWriter) {
    this.#tokenizer = tokenizer;
    this.#textTag = prompts.textTag;
    this.#prompts = prompts;
  }

  plan({ draft, draftText = '', isFixed, told, assumed }: EarlierText): AnswerStart {
    const start = told === null ? [] : answerIn(told);
    const earlier = this.#upToControl(draft);
    const body = told === null ? earlier : this.textIn(earlier);
    if (isFixed && body.length > 0) {
      const { fixed, rest } = fixText(body, this.#tokenizer, this.#textTag);
      const parts = [...start, ...partsOf(fixed, this.#tokenizer, this.#textTag)];
      return { parts, fixed, draft: rest };
    }
    if (body.length > 0 || draftText.trim() === '') return { parts: start, fixed: [], draft: body };
    const spoken = this.#tokenizer.encode(draftText.trim());
    if (told !== null) return { parts: start, fixed: [], draft: spoken };
    const assumption = this.#tokenizer.encodeParts(answerIn(assumed));
    const redraft = (tokens: readonly number[]) => this.#restOf(spoken, tokens);
    return { parts: start, fixed: [], draft: [...assumption, ...spoken], redraft };
  }

  /** What is left of a draft behind a text that begins with a language, and then as the draft does. */
  #restOf(spoken: readonly number[], tokens: readonly number[]): readonly number[] {
    const text = tokens.includes(this.#textTag) ? this.textIn(tokens) : null;
    return text?.every((token, index) => token === spoken[index]) ? spoken.slice(text.length) : [];
  }

  /** What stands behind the language; all of it where none is named. */
  textIn(tokens: readonly number[]): readonly number[] {
    return tokens.slice(tokens.indexOf(this.#textTag) + 1);
  }

  /** A control token is no text, and one for audio would want audio. */
  #upToControl(tokens: readonly number[]): readonly number[] {
    const end = tokens.findIndex((token) => this.#prompts.isControl(token));
    return end === -1 ? tokens : tokens.slice(0, end);
  }
}
