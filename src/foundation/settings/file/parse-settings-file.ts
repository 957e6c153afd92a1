/** Reads the text of trunkline.yaml. */
import { nearestName } from '../../nearest-name.ts';
import { YamlDocument, type YamlPart, type YamlPath } from '../../yaml-document.ts';
import { placed } from '../../yaml-text.ts';
import type { SettingName } from '../settings.ts';
import { writeValue } from './file-values.ts';
import { type ReferenceSources, resolveReferences } from './references.ts';
import { pathOf, SETTING_PLACES, type SettingPlace, settingAt } from './setting-places.ts';

/** One value of the file. */
export interface FileValue {
  /** As the variable would have it. */
  readonly text: string;
  /** `path:line:column`. */
  readonly place: string;
  /** A secret that stands in the file itself. */
  readonly isOpenSecret: boolean;
}

/** What the file has, and what is wrong with it: one line each, with `path:line:column` in front. */
export interface ParsedFile {
  readonly values: ReadonlyMap<SettingName, FileValue>;
  readonly problems: readonly string[];
}

const PARTS: ReadonlySet<string> = new Set(SETTING_PLACES.map(({ part }) => part));

/** Reads `text`, the file at `path`. Secrets and their references are in no problem. */
export function parseSettingsFile(text: string, path: string, sources: ReferenceSources): ParsedFile {
  return new Reading(text, path, sources).result;
}

class Reading {
  readonly #values = new Map<SettingName, FileValue>();
  readonly #problems: string[] = [];
  readonly #document: YamlDocument;
  readonly #path: string;
  readonly #sources: ReferenceSources;

  constructor(text: string, path: string, sources: ReferenceSources) {
    this.#path = path;
    this.#sources = sources;
    this.#document = new YamlDocument(text);
    this.#problems.push(...this.#document.problems.map((problem) => placed(path, problem)));
    if (this.#problems.length === 0) this.#readParts(this.#document.value);
  }

  get result(): ParsedFile {
    return { values: this.#values, problems: this.#problems };
  }

  #readParts(value: unknown): void {
    // A file in which everything is a comment.
    if (value === null || value === undefined) return;
    if (!isMapping(value)) {
      this.#refuse([], 'expected lines such as "sip:", with "  port: 5060" below');
      return;
    }
    for (const [part, settings] of Object.entries(value)) {
      if (!PARTS.has(part)) this.#refuse([part], unknownPart(part), 'key');
      else if (isMapping(settings)) this.#readPart(part, settings);
      // A part whose settings are all comments has no value.
      else if (settings !== null) this.#refuse([part], `expected settings below it, such as "${examplesOf(part)}"`);
    }
  }

  #readPart(part: string, settings: Readonly<Record<string, unknown>>): void {
    for (const [key, value] of Object.entries(settings)) {
      const place = settingAt(pathOf({ part, key }));
      if (place === null) this.#refuse([part, key], unknownKey(part, key), 'key');
      else this.#readSetting(place, value);
    }
  }

  #readSetting({ name, part, key, spec }: SettingPlace, written: unknown): void {
    const { value, isReferred, problems } = resolveReferences(written, [part, key], this.#sources);
    for (const { path, message } of problems) this.#refuse(path, message);
    if (problems.length > 0) return;
    const result = writeValue(value, isReferred, spec);
    if ('problem' in result) {
      this.#refuse([part, key], result.problem);
      return;
    }
    const { line, column } = this.#document.problemAt([part, key], '');
    this.#values.set(name, {
      text: result.text,
      place: `${this.#path}:${line}:${column}`,
      isOpenSecret: spec.secret === true && !isReferred && result.text !== '',
    });
  }

  #refuse(at: YamlPath, message: string, part: YamlPart = 'value'): void {
    this.#problems.push(placed(this.#path, this.#document.problemAt(at, message, part)));
  }
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function examplesOf(part: string): string {
  return `${SETTING_PLACES.find((place) => place.part === part)?.key ?? 'key'}: …`;
}

function unknownPart(part: string): string {
  const meant = meantBy('', part) ?? nearestName(part, PARTS);
  return `is unknown, ${didYouMean(meant)}expected one of ${[...PARTS].join(', ')}`;
}

function unknownKey(part: string, key: string): string {
  const keys = SETTING_PLACES.filter((place) => place.part === part).map((place) => place.key);
  const meant = meantBy(part, key) ?? nearestName(key, keys);
  return `is unknown, ${didYouMean(meant)}expected ${keys.join(', ')}`;
}

function didYouMean(meant: string | null): string {
  return meant === null ? '' : `did you mean ${meant}? `;
}

/** The setting whose name, or whose key in another part, has the same letters: SIP_PORT, sip_port, tls-port. */
function meantBy(part: string, key: string): string | null {
  const typed = lettersOf(key);
  const inPart = lettersOf(`${part}${key}`);
  const place = SETTING_PLACES.find((one) => {
    const named = lettersOf(one.name);
    return named === typed || named === inPart || (part === one.part && lettersOf(one.key) === typed);
  });
  const elsewhere = place ?? SETTING_PLACES.find((one) => part !== '' && one.key.length > 4 && one.key === key);
  return elsewhere === undefined ? null : pathOf(elsewhere);
}

function lettersOf(name: string): string {
  return name.replace(/[_.\s-]/g, '').toLowerCase();
}
