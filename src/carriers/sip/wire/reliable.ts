/** Provisional answers that are to be acknowledged (RFC 3262). */
import { optionTagsIn, type SipHeaders } from './headers.ts';

/** The option tag. */
export const RELIABLE_TAG = '100rel';

/** The header RAck of the PRACK for a provisional answer to an INVITE; null = it is not to be acknowledged. */
export function acknowledgementOf(
  answer: SipHeaders & { readonly statusCode?: number | undefined; readonly cseq: number },
): string | null {
  const { statusCode = 500, cseq } = answer;
  const [number] = /^\d{1,10}$/.exec(answer.getHeader('rseq')?.trim() ?? '') ?? [];
  const tags = optionTagsIn(answer.getHeaders('require'));
  const isAsked = statusCode > 100 && statusCode < 200 && tags.includes(RELIABLE_TAG);
  return isAsked && number !== undefined && Number(number) > 0 ? `RAck: ${number} ${cseq} INVITE` : null;
}
