/**
 * What the first words of whoever answers say of who that is, in English, German, Spanish, French and Italian. The
 * phrases are those of announcements and of people; texts are those of a recogniser, so small words may be wrong.
 */

/**
 * `machine`, `person`: the words say it. `company`: they begin as those of both do ("Thank you for calling").
 * Null = they say nothing.
 */
export type WordsOf = 'machine' | 'person' | 'company' | null;

const MACHINE = [
  // English
  /\bleave (me |us |him |her |them )?((a|your|the|my|an) )?(\w+ ){0,3}(messages?|name|number|details)\b/,
  /\bleave (me|us) a\b/,
  /\brecord (your|a) (\w+ )?message\b/,
  /\b(after|at|following|hear|wait for) the (\w+ )?(tone|beep|signal|peep|beat)\b/,
  /\bvoice ?mail|\bmail ?box|\banswering (machine|service)|\bcall screening|\bscreening service/,
  /\byou( have|ve|'ve)? (now )?reached\b/,
  /\b(can ?not|can't|cant|unable to|not able to|couldn't|could not) (\w+ )?(come|take|get to|answer|pick up|reach)\b/,
  /\b(not|isn't|aren't|un) ?available\b|\bunavailable\b|\bon the other line\b|\bon another call\b/,
  /\baway from (my|the|our) (desk|phone|office)|\bout of (the|my) office\b/,
  /\b(the|this) (person|party|number|subscriber|customer|extension|user|mobile|cellular)( \w+){0,3} (you|is|has|at|cannot)\b/,
  /\bthe (person|party|number|subscriber|customer) (that )?you\b/,
  /\b(has|have) been (forwarded|disconnected|transferred|changed)\b|\bnot in service\b/,
  /\b(will|'ll|ll) (get|call|ring|return|be in touch|respond|reply)( \w+){0,3} (back|soon|call|possible|shortly|later)\b/,
  /\b(get|call|ring) (back to )?you (back|as soon|when|later)|\bget back to you\b|\breturn your call\b/,
  /\b(press|dial|say|push) (one|two|three|four|five|six|seven|eight|nine|zero|\d|star|pound|the pound|hash|the hash)\b/,
  /\bfor [\w ]{2,40}(press|dial|push) /,
  /\b(main menu|following (options|menu)|menu options|listen carefully|options have changed|touch.?tone)\b/,
  /\b(please|or) (say|enter|speak|key in)\b|\benter (your|the|it)\b|\bfollowed by the\b/,
  /\byour call (is|may|will|has|cannot|can't|could)\b|\b(calls?|call) (may|will) be (recorded|monitored)\b/,
  /\b(all|our) (of our )?(\w+ )?(agents|lines|representatives|operators|advisors|staff) are\b/,
  /\b(our|the) (office|store|shop|practice|opening|business|office's)( \w+)? (is|are|hours)( \w+)? ?(closed|from|open)?\b/,
  /\bplease (hold|stay on the line|try (again|your call)|call (back|again)|state your name|enter|hang up)\b/,
  /\byou know (what|the) (to do|drill)\b|\bdo your thing\b|\b(to|with) (the|a|my|this|our) machine\b/,
  /\b(nobody|no ?one|no body|we're not|we are not|i'm not|i am not) (is |are )?(at |in )?(the )?(home|here|in|around|office)\b/,
  /\b(missed|miss) your call\b|\bat the moment\b.*\b(message|back)\b|\bhang up\b/,
  // German
  /\b(hinterlassen|hinterlasst|hinterlass|sprechen) (\w+ ){0,4}(nachricht|namen|nummer|signalton|piepton|ton)\b/,
  /\bnach dem (\w+ )?(signalton|piep\w*|ton|signal)\b|\bmailbox\b|\banrufbeantworter\b|\bsprachbox\b/,
  /\bnicht (erreichbar|verfugbar|verfuegbar|zu erreichen|vergeben|zu hause|personlich)\b|\bnicht (\w+ )?entgegennehmen\b/,
  /\b(drucken|wahlen) sie\b|\bbitte warten\b|\brufe? (\w+ ){0,4}zuruck\b|\bruckruf\b|\bausserhalb (der|unserer)\b/,
  /\b(der|die) (angerufene|gewahlte|teilnehmer|rufnummer|gewunschte)\b/,
  // Spanish
  /\b(deje|dejar|deja|dejanos|dejenos|grabe) (\w+ ){0,3}(mensaje|nombre|recado)\b|\b(despues|tras) (de|del|de la) (\w+ )?(tono|senal|bip)\b/,
  /\bbuzon\b|\bcontestador\b|\bno (esta|se encuentra|estamos|puedo|podemos) (\w+ )?(disponible|atender\w*|responder|contestar)\b/,
  /\b(marque|pulse|oprima|presione) (el |la )?\w+|\bla persona (a la )?que\b|\bel (numero|telefono|cliente) (que|al)\b/,
  // French
  /\blaiss(ez|er|e)(\w+ )?(-?moi |-?nous )?(\w+ ){0,3}(message|nom|numero|coordonnees)\b|\bapres le (\w+ )?(bip|signal|ton|timbre)\b/,
  /\b(messagerie|repondeur|boite vocale)\b|\b(pas|plus) (\w+ )?(disponible|joignable|repondre)\b|\bindisponible\b/,
  /\b(tapez|appuyez|composez|faites le)\b|\bvous etes bien (chez|sur|au)\b|\ble (numero|correspondant|abonne) (que|est)\b/,
  // Italian
  /\blasci(ate|are|a|i)? (\w+ ){0,3}(messaggio|nome|recapito)\b|\bdopo il (\w+ )?(segnale|tono|bip)\b|\bsegreteria\b/,
  /\bcasella (vocale|postale)\b|\bnon (e|sono|siamo|posso|possiamo) (\w+ )?(disponibil\w+|raggiungibil\w+|rispondere)\b/,
  /\b(premere|premi|digitare|digiti|selezion\w+)\b|\bl'?utente\b|\bla persona (che|chiamata|all)\b/,
];

const PERSON = [
  /\b(how|what) (can|may|could|might) (i|we) (\w+ )?(help|do|assist|direct)\b|\bhow (can|may) i\b/,
  /\bcan i help\b|\bmay i help\b|\bwho('s| is| am i)? (this|calling|speaking|there)\b|\bspeaking\b$/,
  /\bwas kann ich\b|\bwie kann ich\b|\bkann ich (\w+ )?helfen\b|\bam apparat\b|\bwer (ist|spricht)\b|\bwas gibts\b/,
  /\ben que (puedo|le puedo|podemos)\b|\bquien (es|habla|llama)\b|\bdigame\b|\bcomo (puedo|le puedo)\b/,
  /\b(que|comment) puis-? ?je\b|\bqui est a\b|\ba l'appareil\b|\bj'ecoute\b/,
  /\b(come|in (che|cosa)) (posso|possiamo)\b|\bcon chi parlo\b|\bchi (parla|e)\b|\bmi dica\b/,
];

/** All that was said is of these. */
const GREETINGS = new Set(
  [
    'hello helo hallo hullo hi hey hiya yes yeah yep yo ja jo bitte si diga digame bueno alo allo oui pronto hola',
    'bonjour buongiorno there uh um hm er what',
  ]
    .flatMap((words) => words.split(' '))
    .concat(['guten tag', 'good morning', 'good afternoon', 'good evening', 'buenos dias', 'is anyone there'])
    .concat(['is anybody there', 'anyone there', 'anybody there', 'are you there', 'can you hear me', 'who is this']),
);
/** Words of the longest of them. */
const GREETING_WORDS_MAX = 4;
/** Nobody says more before it is known who answers. */
const TEXT_MAX_CHARS = 500;

const COMPANY =
  /^(good (morning|afternoon|evening|day)|guten (tag|morgen|abend)|gruss gott|buenos dias|buenas tardes|bonjour|bonsoir|buongiorno|buonasera)\b|\bspeaking\b|\b((thanks?|you)( very much)? for (calling|your call)|welcome to|willkommen|gracias por llamar|bienvenid\w+|merci d'appeler|bienvenue|grazie per (aver )?chiamat\w+|benvenut\w+)\b/;

/** @param text all that was said so far, as the recogniser has it */
export function readAnswer(text: string): WordsOf {
  const plain = text
    .slice(0, TEXT_MAX_CHARS)
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/ß/g, 'ss')
    .replace(/[’`]/g, "'")
    .replace(/[^\p{L}\p{N}' -]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  if (plain === '') return null;
  if (MACHINE.some((phrase) => phrase.test(plain))) return 'machine';
  if (isGreeting(plain.split(' ')) || PERSON.some((phrase) => phrase.test(plain))) return 'person';
  return COMPANY.test(plain) ? 'company' : null;
}

function isGreeting(words: readonly string[]): boolean {
  for (let at = 0; at < words.length; ) {
    let taken = GREETING_WORDS_MAX;
    while (taken > 0 && !GREETINGS.has(words.slice(at, at + taken).join(' '))) taken--;
    if (taken === 0) return false;
    at += taken;
  }
  return true;
}
