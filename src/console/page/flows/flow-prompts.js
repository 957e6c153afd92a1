/** What a flow says: listen to it, put recordings in place of texts, and take them away. */
import { askToConfirm } from '../confirm.js';
import { make, setText } from '../dom.js';
import { deleteJson, explainError, getJson, postForm } from '../gateway.js';

/**
 * @typedef {{ id: string, flow: string, step: string | null, part: string, language: string, voice: string | null,
 *   text: string | null, recording: string | null, source: 'recorded' | 'made' | 'values' }} FlowPrompt
 * @typedef {{ path: string, language: string, name: string, durationMs: number | null,
 *   error: string | null }} Recording
 */

const PAGE = 1000;
const SHOWN_MAX_CHARS = 40;
const FILES = '.wav,.mp3,.flac,.ogg,.oga,.opus,audio/*';

export class FlowPrompts {
  #context;
  /** The flow, and those that it calls. @type {readonly string[]} */
  #flows = [];
  #audio = new Audio();
  /** The prompt that plays. @type {string | null} */
  #playing = null;
  #file = make('input', { type: 'file', accept: FILES, hidden: true, 'aria-label': 'Recording' });
  /** For which prompt a file is chosen. @type {{ prompt: FlowPrompt, recording: Recording | null } | null} */
  #wanted = null;
  #note = make('p', { class: 'prompts-note', role: 'status' });
  #problem = make('p', { class: 'problem', role: 'alert' });
  #list = make('ul', { class: 'prompt-list', 'aria-label': 'Prompts' });
  #hint = make('div', { class: 'hint' });
  element = make(
    'details',
    { class: 'flow-prompts', hidden: true },
    make('summary', {}, make('h3', {}, 'Prompts')),
    this.#note,
    this.#problem,
    this.#list,
    this.#hint,
    this.#file,
  );

  #onChange;

  /** @param {import('../view.js').ViewContext} context @param {() => Promise<void>} onChange recordings have changed */
  constructor(context, onChange) {
    this.#context = context;
    this.#onChange = onChange;
    this.element.addEventListener('toggle', () => (this.element.open ? void this.#load() : this.silence()));
    this.#audio.addEventListener('ended', () => this.silence());
    this.#audio.addEventListener('error', () => this.silence());
    this.#file.addEventListener('change', () => void this.#upload());
  }

  /** @param {readonly string[]} flows the flow and those that it calls; none = there is nothing to show */
  show(flows) {
    const isOther = flows[0] !== this.#flows[0];
    this.#flows = flows;
    this.element.hidden = flows.length === 0 || !this.#context.session.may('prompts.read');
    if (isOther) this.#clear();
    else if (this.element.open) void this.#load();
  }

  /** Ends what plays. */
  silence() {
    this.#audio.pause();
    this.#playing = null;
    this.#showPlaying();
  }

  #clear() {
    this.silence();
    this.element.open = false;
    this.#list.replaceChildren();
    this.#hint.replaceChildren();
    setText(this.#note, '');
    setText(this.#problem, '');
  }

  async #load() {
    const flows = this.#flows;
    if (this.#list.childElementCount === 0) setText(this.#note, 'Loading…');
    try {
      const [prompts, recordings] = await Promise.all([readAll('/v1/flow-prompts'), readAll('/v1/flow-recordings')]);
      if (flows !== this.#flows) return;
      this.#draw(
        prompts.filter(({ flow }) => flows.includes(flow)),
        recordings,
      );
    } catch (error) {
      setText(this.#note, '');
      this.#context.fail(error);
    }
  }

  /** @param {readonly FlowPrompt[]} prompts @param {readonly Recording[]} recordings */
  #draw(prompts, recordings) {
    const held = document.activeElement instanceof HTMLElement ? document.activeElement.dataset : {};
    const { prompt = '', deed = '' } = this.#list.contains(document.activeElement) ? held : {};
    const recorded = prompts.filter(({ source }) => source === 'recorded').length;
    const words = prompts.length === 1 ? '1 prompt' : `${prompts.length} prompts`;
    setText(
      this.#note,
      prompts.length === 0 ? 'It says nothing that calls can use.' : `${words}, ${recorded} recorded`,
    );
    this.#list.replaceChildren(...prompts.map((each) => this.#row(each, recordings)));
    this.#showPlaying();
    const unnamed = prompts.find(({ recording, text, step }) => recording === null && text !== null && step !== null);
    const isTold = unnamed !== undefined && this.#context.session.may('prompts');
    this.#hint.replaceChildren(...(isTold ? explainNames(unnamed) : []));
    this.#focus(prompt, deed);
  }

  /** @param {string} prompt its id @param {string} deed that of the button; another of the prompt where it is gone */
  #focus(prompt, deed) {
    if (prompt === '') return;
    const buttons = /** @type {HTMLElement[]} */ ([...this.#list.querySelectorAll('[data-prompt]')]);
    const own = buttons.filter((button) => button.dataset['prompt'] === prompt);
    (own.find((button) => button.dataset['deed'] === deed) ?? own[0])?.focus({ preventScroll: true });
  }

  /** @param {FlowPrompt} prompt @param {readonly Recording[]} recordings */
  #row(prompt, recordings) {
    const { id, flow, step, part, language, text, recording, source } = prompt;
    const isMissing = text === null && source !== 'recorded';
    const used = source === 'recorded' ? findRecording(prompt, recordings, true) : null;
    const broken = used === null ? findRecording(prompt, recordings, false) : null;
    const said = text ?? `recording ${recording}`;
    const place = flow === this.#flows[0] ? (step ?? 'where a step fails') : `${flow}: ${step ?? 'where a step fails'}`;
    const play = make(
      'button',
      { type: 'button', class: 'plain', 'data-prompt': id, 'data-deed': 'play', 'aria-label': `Play “${said}”` },
      '▶',
    );
    play.addEventListener('click', () => this.#play(id));
    play.disabled = isMissing;
    return make(
      'li',
      { 'data-source': source },
      play,
      make(
        'div',
        { class: 'prompt-words' },
        make('p', {}, make('strong', {}, place), part === 'prompt' ? null : ` · ${part}`, ` · ${language}`),
        text === null ? null : make('p', { class: 'prompt-said' }, text),
        make('p', { class: 'prompt-source' }, isMissing ? 'not recorded: nothing is heard' : describe(prompt, used)),
        broken === null ? null : make('p', { class: 'problem' }, `${broken.path} is not used: ${broken.error}`),
      ),
      this.#deeds(prompt, used ?? broken),
    );
  }

  /** @param {FlowPrompt} prompt @param {Recording | null} recording */
  #deeds(prompt, recording) {
    const name = prompt.recording;
    if (name === null || !this.#context.session.may('prompts')) return null;
    const words = recording === null ? 'Upload' : 'Replace';
    const held = { type: 'button', 'data-prompt': prompt.id };
    const place = `recording ${name}, ${recording?.language ?? prompt.language}`;
    const upload = make('button', { ...held, 'data-deed': 'upload', 'aria-label': `${words} ${place}` }, words);
    upload.addEventListener('click', () => {
      this.#wanted = { prompt, recording };
      this.#file.value = '';
      this.#file.click();
    });
    const forget = make(
      'button',
      { ...held, class: 'plain', 'data-deed': 'delete', 'aria-label': `Delete ${place}` },
      '✕',
    );
    if (recording !== null) forget.addEventListener('click', () => void this.#delete(prompt, recording));
    return make('div', { class: 'prompt-deeds' }, upload, recording === null ? null : forget);
  }

  async #upload() {
    const file = this.#file.files?.[0];
    const wanted = this.#wanted;
    if (file === undefined || wanted === null) return;
    const { prompt, recording } = wanted;
    if (recording !== null) {
      const words = `${file.name} takes the place of ${recording.path}, which is not kept.`;
      if (!(await askToConfirm({ title: 'Replace this recording?', words, deed: 'Replace' }))) return;
    }
    const form = new FormData();
    form.set('name', prompt.recording ?? '');
    form.set('language', recording?.language ?? prompt.language);
    form.set('file', file);
    await this.#change(async () => {
      setText(this.#note, `${file.name} is uploaded…`);
      const { path, error } = await postForm('/v1/flow-recordings', form);
      this.#context.toast(error === null ? `Calls hear ${path} from now on.` : `${path} is kept, but ${error}.`);
    });
  }

  /** @param {FlowPrompt} prompt @param {Recording} recording */
  async #delete({ text }, { path, language, name }) {
    const then = text === null ? 'Nothing is heard there from now on.' : `“${text}” is synthesized again from now on.`;
    const words = `${path} is not kept. ${then}`;
    if (!(await askToConfirm({ title: 'Delete this recording?', words, deed: 'Delete' }))) return;
    await this.#change(() =>
      deleteJson(`/v1/flow-recordings/${encodeURIComponent(language)}/${encodeURIComponent(name)}`),
    );
  }

  /**
   * Does something to recordings. That they have changed is told, which lists them anew.
   * @param {() => Promise<unknown>} deed
   */
  async #change(deed) {
    this.silence();
    try {
      await deed();
      setText(this.#problem, '');
    } catch (error) {
      setText(this.#problem, explainError(error));
    }
    await this.#onChange();
  }

  /** @param {string} id */
  #play(id) {
    const wasPlaying = this.#playing === id;
    this.silence();
    if (wasPlaying) return;
    this.#playing = id;
    this.#audio.src = `/v1/flow-prompts/${id}/sound`;
    this.#audio.play().catch((error) => {
      // One that another one cut off has not failed.
      if (error.name === 'AbortError') return;
      this.silence();
      this.#context.toast('This prompt cannot be played now.', 'problem');
    });
    this.#showPlaying();
  }

  #showPlaying() {
    for (const button of this.#list.querySelectorAll('[data-deed="play"]')) {
      const isPlaying = button instanceof HTMLElement && button.dataset['prompt'] === this.#playing;
      button.setAttribute('aria-pressed', String(isPlaying));
      setText(button, isPlaying ? '■' : '▶');
    }
  }
}

/** All pages of a list. @param {string} path @returns {Promise<any[]>} */
async function readAll(path) {
  const all = [];
  let cursor = '';
  do {
    const { data, next } = await getJson(`${path}?limit=${PAGE}${cursor}`);
    all.push(...data);
    cursor = next === null ? '' : `&cursor=${encodeURIComponent(next)}`;
  } while (cursor !== '');
  return all;
}

/**
 * The recording of a prompt: that of its language, of the language without its region, or of any region.
 * @param {FlowPrompt} prompt @param {readonly Recording[]} recordings
 * @param {boolean} isUsed false = one that cannot be used
 */
function findRecording({ recording, language }, recordings, isUsed) {
  const own = recordings.filter(({ name, error }) => name === recording && (error === null) === isUsed);
  const asked = language.toLowerCase();
  const [primary = ''] = asked.split('-', 1);
  const find = (/** @type {(lang: string) => boolean} */ fits) => own.find((each) => fits(each.language.toLowerCase()));
  const exact = find((lang) => lang === asked) ?? find((lang) => lang === primary);
  return exact ?? find((lang) => lang.startsWith(`${primary}-`)) ?? null;
}

/** How a prompt comes about. @param {FlowPrompt} prompt @param {Recording | null} used */
function describe({ source, recording }, used) {
  if (source === 'recorded') {
    const ms = used?.durationMs ?? null;
    const seconds = ms === null ? '' : `, ${(ms / 1000).toFixed(1)} s`;
    return `recorded: ${used?.path ?? recording}${seconds}`;
  }
  const until = recording === null ? '' : ` until ${recording} is recorded`;
  return `synthesized${until}${source === 'values' ? ', its values in each call' : ''}`;
}

/** How a prompt gets a name under which it can be recorded. @param {FlowPrompt} prompt */
function explainNames({ text, step }) {
  const said = text ?? '';
  const shown = said.length > SHOWN_MAX_CHARS ? `${said.slice(0, SHOWN_MAX_CHARS)}…` : said;
  return [
    make(
      'p',
      {},
      'A prompt can be recorded when it names a recording. In the file of the flow, write in place of a text alone:',
    ),
    make(
      'pre',
      { tabindex: '0', 'aria-label': 'A prompt with a recording' },
      `text: ${JSON.stringify(shown)}\nrecording: ${step}`,
    ),
  ];
}
