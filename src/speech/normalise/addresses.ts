/** Internet addresses as people say them. */
import { digitWords, isPronounceable, spellLetters } from './words.ts';

const EMAIL = /(?<![\w.+-])([\w.+-]{1,64})@((?:[a-z0-9-]{1,63}\.){1,5}[a-z]{2,24})(?![\w-])/gi;
const URL_WITH_SCHEME =
  /(?<!\w)(?:https?:\/\/|www\.)((?:[a-z0-9-]{1,63}\.){0,5}[a-z0-9-]{1,63})(?::(\d{2,5}))?((?:[/?#][^\s<>"]{0,500})?)/gi;
/** A bare name with one of these endings is an address. */
const BARE_DOMAIN =
  /(?<![\w@.-])((?:[a-z0-9-]{1,63}\.){1,4}(?:com|org|net|edu|gov|mil|int|info|biz|io|ai|app|dev|co|us|uk|ca|au|de|fr|es|it|nl|eu|ch|at|ie))((?:\/[\w.~%-]{1,60}){0,4})\/?(?![\w-])/gi;
const IP_ADDRESS = /(?<![\w.])(\d{1,3}(?:\.\d{1,3}){3})(?![\w]|\.\d)/g;

/** Endings that are said as words; others of two or three letters are spelt. */
const SAYABLE_ENDINGS: ReadonlySet<string> = new Set(['com', 'org', 'net', 'gov', 'mil', 'info', 'biz', 'app', 'dev']);

/** Longer paths are left out. */
const PATH_MAX_CHARS = 40;
const SPELT_MAX_CHARS = 3;

const MARKS: Readonly<Record<string, string>> = Object.freeze({
  '.': ' dot ',
  '-': ' dash ',
  _: ' underscore ',
  '+': ' plus ',
  '/': ' slash ',
  '~': ' tilde ',
  '%': ' percent ',
  '=': ' equals ',
  '&': ' and ',
});

/** `jo@example.com` → `jo at example dot com`; a URL becomes its host and a short path. */
export function sayAddresses(text: string): string {
  return text
    .replace(EMAIL, (_, user: string, host: string) => `${sayPart(user)} at ${sayHost(host)}`)
    .replace(URL_WITH_SCHEME, (_, host: string, port: string | undefined, rest: string) => sayUrl(host, port, rest))
    .replace(IP_ADDRESS, (_, address: string) => address.split('.').map(digitWords).join(' dot '))
    .replace(BARE_DOMAIN, (_, host: string, path: string) => sayUrl(host, undefined, path));
}

function sayUrl(host: string, port: string | undefined, rest: string): string {
  const stop = /(?<![.,;:!?)\]'])[.,;:!?)\]']*$/.exec(rest)?.[0] ?? '';
  const path = (/^\/[^?#]*/.exec(rest.slice(0, rest.length - stop.length))?.[0] ?? '').replace(/\/$/, '');
  const saidPort = port === undefined ? '' : ` port ${digitWords(port)}`;
  const saidPath = path.length <= PATH_MAX_CHARS ? sayPart(path) : '';
  return `${sayHost(host.replace(/^www\./i, ''))}${saidPort}${saidPath}${stop}`;
}

function sayHost(host: string): string {
  return host
    .split('.')
    .map((label, index, labels) =>
      index === labels.length - 1 && labels.length > 1 ? sayEnding(label) : sayPart(label),
    )
    .join(' dot ');
}

function sayEnding(ending: string): string {
  const isWord = SAYABLE_ENDINGS.has(ending.toLowerCase()) || ending.length > SPELT_MAX_CHARS;
  return isWord ? ending.toLowerCase() : spellLetters(ending);
}

/** Keeps words, spells letters that make no word, and reads digits one by one. */
function sayPart(part: string): string {
  return part.replace(/[a-z]+|\d+|[^a-z\d]/gi, (run) => {
    if (/\d/.test(run)) return ` ${digitWords(run)} `;
    if (!/[a-z]/i.test(run)) return MARKS[run] ?? ' ';
    return isPronounceable(run) && run.length > 1 ? run : ` ${spellLetters(run)} `;
  });
}
