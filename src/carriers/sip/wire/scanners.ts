/** Programs that look for open SIP servers, by the name that they give themselves. */

const SCANNERS =
  /\b(?:friendly-scanner|sipvicious|sipcli|sip-?scan|sundayddr|iwar|vaxsipuseragent|pplsip|siparmyknife|masscan)\b/i;

/** Whether a program of this name looks for servers to abuse. */
export function isScanner(userAgent: string): boolean {
  return SCANNERS.test(userAgent);
}
