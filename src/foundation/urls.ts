/** URLs as people and logs may see them. */

const HIDDEN = '***';

/**
 * Up to where a text, JSON too, may be one URL; a mark at its end belongs to the sentence. The scheme is bounded, for
 * texts may be long and made to be slow.
 */
const URLS = /\b[a-z][a-z0-9+.-]{0,63}:\/\/[^\s"\\<>]*[^\s"\\<>:.,;!?)]/gi;

/**
 * `name:password@`, as it stands before a host: in a SIP URI, or in a URL whose scheme was forgotten. Bounded as well.
 */
const PASSWORDS = /(?<![\w.+*-])([\w.+-]{1,64}):([^\s"'<>@/\\]{1,256})@/g;

/** In these what stands before the `@` is an address unless it has a colon of its own. */
const ADDRESS_SCHEMES = ['sip', 'sips', 'mailto'];

/**
 * `text` with what opens something left out of every URL in it: user and password, the value of every query parameter
 * (`?token=…`; which of them are secret nobody can tell by their names) and the fragment. For settings, errors and log
 * lines: for whatever a person may read, copy or send on.
 */
export function hideCredentials(text: string): string {
  if (!/[@?#]/.test(text)) return text;
  return text
    .replace(URLS, hideInUrl)
    .replace(PASSWORDS, (whole, name: string, secret: string) => hidePassword(whole, name.toLowerCase(), secret));
}

/**
 * As {@link hideCredentials}, for a value that is meant to be one URL, where quotes, spaces and the like do not end it.
 */
export function hideCredentialsIn(value: string): string {
  return hideCredentials(
    /^\s*(?:[a-z][a-z0-9+.-]*:\/\/|sips?:).*[@?]/is.test(value) ? value.trim().replace(/[\s"\\<>]/g, '_') : value,
  );
}

function hideInUrl(url: string): string {
  const [, scheme = '', rest = ''] = /^([^/]*:\/\/)(.*)$/s.exec(url) ?? [];
  const readable = withReadableHost(scheme, rest);
  const [, place = '', query = '', fragment = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(readable) ?? [];
  const hidden = query.replace(/([?&;])([^=&;]*)(=?)[^&;]*/g, (_, mark: string, name: string, equals: string) =>
    equals === '' ? mark + (name === '' ? '' : HIDDEN) : `${mark}${name}=${HIDDEN}`,
  );
  return `${scheme}${withoutUser(place)}${hidden}${fragment === '' ? '' : `#${HIDDEN}`}`;
}

/**
 * A password with a slash or the like in it makes a URL that cannot be read: then all before the last `@` is taken for
 * it.
 */
function withReadableHost(scheme: string, rest: string): string {
  if (/^[^/?#]*@/.test(rest) || !rest.includes('@') || URL.canParse(scheme + rest)) return rest;
  return HIDDEN + rest.slice(rest.lastIndexOf('@'));
}

function withoutUser(place: string): string {
  const [host = ''] = place.split('/', 1);
  return host.includes('@') ? HIDDEN + place.slice(host.lastIndexOf('@')) : place;
}

function hidePassword(whole: string, name: string, secret: string): string {
  if (!ADDRESS_SCHEMES.includes(name)) return `${HIDDEN}@`;
  return secret.includes(':') ? `${name}:${HIDDEN}@` : whole;
}
