/** Requests to addresses that a client named: only public ones unless allowed, each hop looked at. */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { lookupPublic, refusePrivateAddress } from '../addresses.ts';

const REDIRECTS_MAX = 3;
const REDIRECT_STATUSES = [301, 302, 303, 307, 308];

interface WebRequest {
  readonly url: string;
  readonly allowPrivate: boolean;
  readonly signal: AbortSignal;
  /** Sent by POST, which follows no redirect; a GET without. */
  readonly post?: { readonly body: string; readonly headers: Readonly<Record<string, string>> };
}

/**
 * The answer to a request, whose body the caller reads or destroys.
 * @throws PrivateAddressError, and Error when the server cannot be reached or redirects without end
 */
export async function askWeb(asked: WebRequest): Promise<IncomingMessage> {
  let url = new URL(asked.url);
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
    const response = await askOnce(url, asked);
    const { location } = response.headers;
    if (asked.post !== undefined || !REDIRECT_STATUSES.includes(response.statusCode ?? 0) || location === undefined) return response;
    response.destroy();
    url = new URL(location, url);
  }
  throw new Error(`more than ${REDIRECTS_MAX} redirects`);
}

function askOnce(url: URL, { allowPrivate, signal, post }: WebRequest): Promise<IncomingMessage> {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new Error('the URL is not of http or https');
  if (!allowPrivate) refusePrivateAddress(url.hostname);
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const headers = { 'accept-encoding': 'identity', 'user-agent': 'trunkline', ...post?.headers };
  const options = {
    agent: false,
    signal,
    headers,
    method: post === undefined ? 'GET' : 'POST',
    ...(allowPrivate ? {} : { lookup: lookupPublic }),
  };
  return new Promise((resolve, reject) => {
    request(url, options, resolve)
      .on('upgrade', (response, socket) => {
        // Nobody asked for another protocol. Unheard, such an answer would be neither a response nor an error.
        socket.destroy();
        resolve(response);
      })
      .on('error', reject)
      .end(post?.body);
  });
}
