/** Spoken sentences that are kept: listen to them, forget them, put a recording in their place. */
import { askToConfirm } from '../confirm.js';
import { make, setText } from '../dom.js';
import { deleteJson, getJson, postForm } from '../gateway.js';
import { panel, region } from './panel.js';
import { formatAgo, formatBytes } from './words.js';

/**
 * @typedef {{ id: string, source: 'recorded' | 'calls' | 'requests', text: string, voice: string, durationMs: number,
 *   bytes: number, usedAt: string }} Prompt
 */

const PAGE = 20;

export class Prompts {
  #context;
  #audio = new Audio();
  /** The prompt that plays. @type {string | null} */
  #playing = null;
  /** @type {Prompt[]} */
  #prompts = [];
  /** @type {string | null} */
  #next = null;
  #figures = region('p', 'panel-note', ([words]) => [words]);
  #list = make('ul', { class: 'prompts' });
  #more = make('button', { type: 'button', hidden: true }, 'More');
  #problem = make('p', { class: 'problem', role: 'alert' });
  #voices = make('select', { id: 'prompt-voice', name: 'voice' }, make('option', { value: '' }, 'default voice'));
  #form = this.#buildForm();
  element = panel('prompts', 'Prompts', this.#figures.element, this.#form, this.#list, this.#more);

  /** @param {import('../view.js').ViewContext} context */
  constructor(context) {
    this.#context = context;
    this.#more.addEventListener('click', () => void this.#load(this.#next));
    this.#audio.addEventListener('ended', () => this.#stop());
    this.#audio.addEventListener('error', () => this.#stop());
  }

  /** @param {any} system */
  show({ prompts }) {
    const { cached, uploaded, memoryBytes, diskBytes } = prompts;
    const sizes = `${formatBytes(memoryBytes)} in memory, ${formatBytes(diskBytes)} on disk`;
    this.#figures.show([`${cached} cached, ${sizes} · ${uploaded} recorded`]);
  }

  /** Lists them anew; to be called when the view is opened. */
  async open() {
    this.#form.hidden = !this.#context.session.may('prompts');
    await this.#load(null);
    if (this.#voices.childElementCount === 1 && !this.#form.hidden) await this.#listVoices();
  }

  /** Falls silent. */
  close() {
    this.#audio.pause();
    this.#stop();
  }

  #buildForm() {
    const text = make('input', {
      id: 'prompt-text',
      name: 'text',
      required: true,
      maxlength: 1000,
      autocomplete: 'off',
    });
    const file = make('input', {
      id: 'prompt-file',
      name: 'file',
      type: 'file',
      accept: '.wav,audio/wav',
      required: true,
    });
    const form = make(
      'form',
      { class: 'prompt-form' },
      make('label', { for: 'prompt-text' }, 'Text that is said'),
      text,
      make('label', { for: 'prompt-voice' }, 'Voice'),
      this.#voices,
      make('label', { for: 'prompt-file' }, 'WAV'),
      file,
      make('button', { type: 'submit', class: 'strong' }, 'Upload'),
      this.#problem,
    );
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#upload(form);
    });
    return make(
      'details',
      { class: 'more' },
      make('summary', {}, 'Upload a recording in place of a sentence'),
      make(
        'p',
        { class: 'panel-note' },
        'It plays wherever exactly this text would be synthesized in this voice, as loud as all other speech.',
      ),
      form,
    );
  }

  async #listVoices() {
    const { data } = await getJson('/v1/voices').catch(() => ({ data: [] }));
    this.#voices.append(
      ...data.map((/** @type {{ name: string }} */ { name }) => make('option', { value: name }, name)),
    );
  }

  /** @param {HTMLFormElement} form */
  async #upload(form) {
    const button = /** @type {HTMLButtonElement} */ (form.querySelector('button'));
    button.disabled = true;
    try {
      const { text } = await postForm('/v1/prompts', new FormData(form));
      setText(this.#problem, '');
      form.reset();
      this.#context.toast(`The recording takes the place of “${text}”.`);
      await this.#load(null);
    } catch (error) {
      setText(this.#problem, error instanceof Error ? error.message : String(error));
    }
    button.disabled = false;
  }

  /** @param {string | null} cursor null = from the first on */
  async #load(cursor) {
    const from = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    try {
      const { data, next } = await getJson(`/v1/prompts?limit=${PAGE}${from}`);
      this.#prompts = cursor === null ? data : [...this.#prompts, ...data];
      this.#next = next;
      this.#draw();
    } catch (error) {
      this.#context.fail(error);
    }
  }

  #draw() {
    const now = new Date();
    this.#list.replaceChildren(...this.#prompts.map((prompt) => this.#row(prompt, now)));
    this.#more.hidden = this.#next === null;
    if (this.#prompts.length === 0)
      this.#list.append(make('li', { class: 'quiet' }, 'None yet: what is said to callers is kept here.'));
  }

  /** @param {Prompt} prompt @param {Date} now */
  #row(prompt, now) {
    const { id, text, voice, source, durationMs, usedAt } = prompt;
    const isPlaying = this.#playing === id;
    const seconds = `${(durationMs / 1000).toFixed(1)} s`;
    const play = make(
      'button',
      {
        type: 'button',
        class: 'plain',
        'data-play': id,
        'aria-pressed': String(isPlaying),
        'aria-label': `Play “${text}”`,
      },
      isPlaying ? '■' : '▶',
    );
    play.addEventListener('click', () => this.#play(id));
    const note = source === 'recorded' ? 'recorded' : `used ${formatAgo(usedAt, now)}`;
    const forget = make('button', { type: 'button', class: 'plain', 'aria-label': `Forget “${text}”` }, '✕');
    forget.addEventListener('click', () => void this.#forget(prompt));
    return make(
      'li',
      { 'data-source': source },
      play,
      make('span', { class: 'prompt-text', title: text }, text),
      make('span', { class: 'quiet' }, `${voice} · ${seconds} · ${note}`),
      this.#context.session.may('prompts') ? forget : null,
    );
  }

  /** @param {string} id */
  #play(id) {
    const wasPlaying = this.#playing === id;
    this.close();
    if (wasPlaying) return;
    this.#playing = id;
    this.#audio.src = `/v1/prompts/${id}/sound`;
    this.#audio.play().catch((error) => {
      // One that another one cut off has not failed.
      if (error.name !== 'AbortError') this.#stop();
    });
    this.#showPlaying();
  }

  #stop() {
    this.#playing = null;
    this.#showPlaying();
  }

  #showPlaying() {
    for (const button of this.#list.querySelectorAll('[data-play]')) {
      const isPlaying = button instanceof HTMLElement && button.dataset['play'] === this.#playing;
      button.setAttribute('aria-pressed', String(isPlaying));
      setText(button, isPlaying ? '■' : '▶');
    }
  }

  /** @param {Prompt} prompt */
  async #forget({ id, text, source }) {
    if (source === 'recorded') {
      const words = `“${text}” is synthesized again from now on. The recording is not kept.`;
      if (!(await askToConfirm({ title: 'Delete this recording?', words, deed: 'Delete' }))) return;
    }
    try {
      await deleteJson(`/v1/prompts/${id}`);
      await this.#load(null);
      const first = this.#list.querySelector('button');
      if (first instanceof HTMLElement) first.focus();
    } catch (error) {
      this.#context.fail(error);
    }
  }
}
