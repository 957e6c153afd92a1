/** A mark in the browser of somebody who has signed in there with a name and a password before. */
import { createHmac } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { isSameSecret } from '../../foundation/timing-safe.ts';
import type { User } from '../../records/users/user.ts';
import { cookieOf } from './credentials.ts';

const COOKIE = 'trunkline_browser';
const LIFE_S = 365 * 86_400;

/**
 * Whether the request comes from a browser in which `user` has signed in since they have this password. It lets nobody
 * in: while strangers guess, it is what tells them from the user.
 */
export function isKnownBrowser(request: FastifyRequest, user: User | undefined): boolean {
  const given = cookieOf(request, COOKIE);
  // A name that nobody has takes as long.
  return isSameSecret(given, markOf(user)) && user !== undefined;
}

/** The `Set-Cookie` header that marks the browser of `user`, for where one signs in alone. */
export function knownBrowserCookie(user: User, isSecure: boolean): string {
  const secure = isSecure ? '; Secure' : '';
  return `${COOKIE}=${markOf(user)}; Path=/v1/session; Max-Age=${LIFE_S}; HttpOnly; SameSite=Strict${secure}`;
}

/** All gateways that know the user make the same one, and none needs to keep it. */
function markOf(user: User | undefined): string {
  return createHmac('sha256', user?.secret ?? '')
    .update(`browser of ${user?.name ?? ''}`)
    .digest('base64url');
}
