/** A few words with their phonemes, as a lexicon of the voice has them. */

/** Those that were checked. */
export const GOLD = {
  A: 'ˈA',
  B: 'bˈi',
  C: 'sˈi',
  I: 'ˈI',
  O: 'ˈO',
  and: 'ænd',
  apple: 'ˈæpᵊl',
  cat: 'kˈæt',
  cent: 'sˈɛnt',
  dish: 'dˈɪʃ',
  dollar: 'dˈɑləɹ',
  first: 'fˈɜɹst',
  five: 'fˈIv',
  minus: 'mˈInəs',
  nineteen: 'nˌInˈtin',
  ninety: 'nˈIndi',
  oh: 'ˈO',
  one: 'wˈʌn',
  pence: 'pˈɛns',
  point: 'pˈYnt',
  pound: 'pˈWnd',
  record: { DEFAULT: 'ɹˈɛkəɹd', VERB: 'ɹəkˈɔɹd' },
  stop: 'stˈɑp',
  thousand: 'θˈWzᵊnd',
  to: 'tˈu',
  twenty: 'twˈɛnti',
  two: 'tˈu',
  used: { DEFAULT: 'jˈuzd', VBD: 'jˈust' },
  zero: 'zˈɪɹO',
};

/** Those that were generated. */
export const SILVER = { wait: 'wˈAt', want: 'wˈɑnt', 'an "escaped" word': 'x' };
