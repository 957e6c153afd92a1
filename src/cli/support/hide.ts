/** Takes out of texts what a bundle for strangers must not have: secrets, phone numbers, who somebody is. */
import type { Settings } from '../../foundation/settings/settings.ts';
import { SETTINGS } from '../../foundation/settings/settings.ts';
import { hideCredentials } from '../../foundation/urls.ts';

/** A shorter secret may be a part of any word. */
const SECRET_MIN_CHARS = 4;
/** Of a URL's query; other parameters are words such as `require`, and hidden where the URL is. */
const TOKEN_PARAMETERS = ['token', 'key', 'api_key', 'apikey', 'access_token', 'password', 'secret'];

/** Dates, IP addresses and ids that programs make look like numbers, and stay. */
const NO_NUMBERS = [
  String.raw`\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?)?(?!\d)`,
  String.raw`(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?(?![\d.])`,
  String.raw`(?<!\w)(?:[A-Z]{2})?[0-9a-f]{32}(?!\w)`,
  String.raw`(?<!\w)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?!\w)`,
] as const;
/** Seven digits and more, as people write them: `+1 (415) 555-0123`, `030/1234567`. */
const NUMBER = String.raw`\+?\(?\d(?:[\s().\/-]{0,2}\d){6,}`;
const NUMBERS = new RegExp(`(${NO_NUMBERS.join('|')})|${NUMBER}`, 'g');
/** Who is called in SIP, and addresses of mail. A password before the `@` is a credential, and hidden before. */
const USERS = /(?<![\w.+-])((?:sips?|tel|mailto):)?[\w.+*•%-]{1,128}@(?=\[?[\w•])/gi;

/** Hides things in texts. */
export type Hide = (text: string) => string;

/** Hides `secrets` wherever they are in a text, then credentials of URLs, users and numbers. */
export function hideWith(secrets: readonly string[]): Hide {
  // A secret may be a part of another one.
  const longestFirst = secrets.toSorted((a, b) => b.length - a.length);
  return (text) => {
    const open = longestFirst.reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text);
    return hideCredentials(open)
      .replace(USERS, (_, scheme: string | undefined) => `${scheme ?? ''}[user]@`)
      .replace(NUMBERS, (_, kept: string | undefined) => kept ?? '[number]');
  };
}

/**
 * What no bundle may have: the values of secret settings, as a whole and in their parts, the passwords in the URLs of
 * all, and `more`. `given` = what was set, also where it cannot be used.
 */
export function secretsOf(
  settings: Settings,
  given: ReadonlyMap<string, { readonly text: string }>,
  more: readonly string[],
): string[] {
  const texts = Object.entries(SETTINGS).flatMap(([name, spec]) => {
    const values = [given.get(name)?.text ?? '', String(settings[name as keyof typeof SETTINGS])];
    return values.flatMap((value) => openings(value, 'secret' in spec));
  });
  return [...new Set([...texts, ...more])].filter((text) => text.length >= SECRET_MIN_CHARS);
}

/** What opens something in the text of a setting: it may be a list, of URLs or of `name=value`. */
function openings(setting: string, isSecret: boolean): string[] {
  const items = setting.split(',').map((item) => item.trim());
  const inItems = items.flatMap((item) => (item.includes('://') ? passwordsIn(item) : isSecret ? valuesIn(item) : []));
  return isSecret ? [setting, ...inItems] : inItems;
}

/** As it is written, and as it is meant. */
function passwordsIn(url: string): string[] {
  if (!URL.canParse(url)) return [url];
  const { password, searchParams } = new URL(url);
  return [password, decoded(password), ...TOKEN_PARAMETERS.flatMap((name) => searchParams.getAll(name))];
}

/** A key, or the value of `name=value`, which may be that of an HTTP header: `Bearer …`. */
function valuesIn(item: string): string[] {
  const value = decoded(item.slice(item.indexOf('=') + 1).trim());
  return [item, value, value.replace(/^(?:Bearer|Basic|Token) /i, '')];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** `value` of JSON, with everything hidden in its texts; those of members in `left` are left out with all in them. */
export function hideIn(value: unknown, hide: Hide, left: ReadonlySet<string> = new Set()): unknown {
  if (typeof value === 'string') return hide(value);
  if (Array.isArray(value)) return value.map((each) => hideIn(each, hide, left));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [hide(name), left.has(name) ? '[private]' : hideIn(each, hide, left)]),
  );
}
