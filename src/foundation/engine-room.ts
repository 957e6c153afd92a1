/**
 * Nothing live is added when work that is never dropped takes this share of engine time (0–1). Partial captions are
 * already fewer by then; one more call or listener would delay finals.
 */
export const FIRM_LOAD_MAX = 0.85;
