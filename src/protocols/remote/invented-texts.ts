/**
 * What models of Whisper's family write where nobody said anything: they were trained with subtitles of videos.
 * https://github.com/openai/whisper/discussions/928, https://github.com/openai/whisper/discussions/679
 *
 * Whole sentences of which callers say none. "Thank you.", "Bye." and "you" are such texts as well, but callers do say
 * them.
 */
const INVENTED: readonly string[] = [
  // English
  'thanks for watching',
  'thank you for watching',
  'thank you so much for watching',
  'thank you very much for watching',
  'thanks for watching and see you in the next video',
  'thank you for watching and see you in the next video',
  'i will see you in the next video',
  "i'll see you in the next video",
  'see you in the next video',
  'see you in the next one',
  'please subscribe',
  'please like and subscribe',
  'like and subscribe',
  'please subscribe to my channel',
  'please subscribe to the channel',
  'subscribe to my channel',
  "don't forget to subscribe",
  "don't forget to like and subscribe",
  'subtitles by the amara org community',
  'subs by www zeoranger co uk',
  'transcription by castingwords',
  'transcription by eso translation by',
  'transcript emily beynon',
  'www mooji org',
  // German
  'untertitel der amara org community',
  'untertitelung aufgrund der amara org community',
  'untertitel im auftrag des zdf',
  'untertitel im auftrag des zdf für funk',
  'untertitelung im auftrag des zdf',
  'untertitelung des zdf',
  'untertitel von stephanie geiges',
  'copyright wdr',
  'vielen dank fürs zuschauen',
  'vielen dank für das zuschauen',
  'danke fürs zuschauen',
  'bis zum nächsten video',
  // French
  "sous titres réalisés par la communauté d'amara org",
  "sous titres réalisés para la communauté d'amara org",
  'sous titrage société radio canada',
  "sous titrage st' 501",
  'par soustitreur com',
  "merci d'avoir regardé cette vidéo",
  "merci d'avoir regardé la vidéo",
  'abonnez vous à la chaîne',
  "n'oubliez pas de vous abonner",
  // Spanish
  'subtítulos realizados por la comunidad de amara org',
  'subtítulos por la comunidad de amara org',
  'gracias por ver el video',
  'gracias por ver el vídeo',
  'muchas gracias por ver el video',
  'suscríbete al canal',
  'suscríbete',
  'nos vemos en el próximo video',
  // Italian
  'sottotitoli creati dalla comunità amara org',
  'sottotitoli e revisione a cura di qtss',
  'sottotitoli a cura di qtss',
  'grazie per aver guardato il video',
  'iscriviti al canale',
  // Portuguese
  'legendas pela comunidade amara org',
  'legendas pela comunidade de amara org',
  'obrigado por assistir',
  'obrigada por assistir',
  'inscreva se no canal',
  // Dutch
  'ondertitels ingediend door de amara org gemeenschap',
  'ondertiteld door de amara org gemeenschap',
  'ondertiteling door de amara org gemeenschap',
  'bedankt voor het kijken',
  // Polish, Russian, Turkish
  'napisy stworzone przez społeczność amara org',
  'dziękuję za oglądanie',
  'субтитры сделал dimatorzok',
  'субтитры создавал dimatorzok',
  'редактор субтитров а семкин корректор а егорова',
  'спасибо за просмотр',
  'продолжение следует',
  'altyazı m k',
  'abone olmayı unutmayın',
  'izlediğiniz için teşekkür ederim',
  // Japanese, Korean, Chinese
  'ご視聴ありがとうございました',
  'ご視聴ありがとうございます',
  '最後までご視聴いただきありがとうございました',
  'チャンネル登録をお願いします',
  'チャンネル登録よろしくお願いします',
  '次の動画でお会いしましょう',
  '시청해주셔서 감사합니다',
  '시청해 주셔서 감사합니다',
  '구독과 좋아요 부탁드립니다',
  '谢谢观看',
  '謝謝觀看',
  '感谢观看',
  '感謝觀看',
  '请不吝点赞 订阅 转发 打赏支持明镜与点点栏目',
  '請不吝點贊 訂閱 轉發 打賞支持明鏡與點點欄目',
  '字幕由amara org社区提供',
  '中文字幕志愿者 李宗盛',
];

const KNOWN = new Set(INVENTED.map(normalise));

/** Ends of sentences, but not the dots of addresses. */
const SENTENCE_ENDS = /[!?…。！？\n]+|(?<!\.)\.+(?=\s|$)/u;
/** A year stands behind many of them: `Untertitel im Auftrag des ZDF, 2021`. */
const YEAR = / (?:19|20)\d\d$/;

/** Whether `text` has nothing but sentences that models are known to invent, one at least. */
export function isInvented(text: string): boolean {
  const sentences = text
    .split(SENTENCE_ENDS)
    .map((sentence) => normalise(sentence).replace(YEAR, ''))
    .filter((sentence) => sentence !== '');
  return sentences.length > 0 && sentences.every((sentence) => KNOWN.has(sentence));
}

/** Lower case, without marks. */
function normalise(text: string): string {
  return text
    .normalize('NFC')
    .toLowerCase()
    .replace(/’/g, "'")
    .replace(/[^\p{L}\p{N}\p{M}']+/gu, ' ')
    .trim();
}
