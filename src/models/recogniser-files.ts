/**
 * The files of the recognisers of src/foundation/published-recognisers.ts, and where their publishers have them. Sizes
 * and CRC-32C are those that the moonshine-voice package 0.1.5 of Moonshine AI checks its downloads by. Its publisher
 * tells no SHA-256 but of the files on Hugging Face, which has those of the English models (commit 0bf2f2e5 of
 * moonshine-ai/moonshine-voice-assets) and of Parakeet; those of the other models are as other programs have measured
 * them: in public repositories on GitHub two agree on Spanish small, one has Spanish tiny and Japanese small. All have
 * the sizes of the publisher, and files of equal CRC-32C have equal SHA-256. Of the rest the CRC-32C alone is known.
 *
 * Sizes and SHA-256 of Qwen3-ASR for sherpa-onnx are those by which public repositories on GitHub check their downloads
 * of csukuangfj2's and ilmina's copies on Hugging Face; two or more agree on each, also with the exporter's own copy on
 * ModelScope (zengshuishui/Qwen3-ASR-onnx).
 * Whisper's are those that programs on GitHub pin the commits of Hugging Face by: several agree on the graphs, one has
 * the small files too.
 */
import { type CatalogFile, file } from './catalog-model.ts';

/** Where a recogniser's files are. */
export interface RecogniserFiles {
  /** Folders that have all files by their names; the first one that answers is used. https */
  readonly addresses: readonly string[];
  readonly files: readonly CatalogFile[];
  readonly extras: readonly CatalogFile[];
}

const MOONSHINE_ADDRESS = 'https://download.moonshine.ai/model';
/** The publisher's archive; it has the English streaming models and the older ones. */
const MOONSHINE_ARCHIVE =
  'https://huggingface.co/moonshine-ai/moonshine-voice-assets/resolve/0bf2f2e5aff22e6fbba4300b00a4e00bbc4f8aae/model';
const ARCHIVED = /^\w+-streaming-en\/|\/quantized\//;

/** @param path its folder at the publisher's @param extras with them words have times */
function moonshine(path: string, files: readonly CatalogFile[], extras: readonly CatalogFile[] = []): RecogniserFiles {
  const archives = ARCHIVED.test(path) ? [MOONSHINE_ARCHIVE] : [];
  return { addresses: [MOONSHINE_ADDRESS, ...archives].map((folder) => `${folder}/${path}`), files, extras };
}

/** @param commit that of the publisher's repository */
function huggingFace(repository: string, commit: string, files: readonly CatalogFile[]): RecogniserFiles {
  return { addresses: [`https://huggingface.co/${repository}/resolve/${commit}`], files, extras: [] };
}

/** What both sizes of Qwen3-ASR share. */
const QWEN_TOKENIZER = [
  file('tokenizer/merges.txt', 1_671_853, '8831e4f1a044471340f7c0a83d7bd71306a5b867e95fd870f74d0c5308a904d5'),
  file('tokenizer/tokenizer_config.json', 12_487, '4942d005604266809309cabc9f4e9cb89ce855d59b14681fdc0e1cc62ea26c4c'),
  file('tokenizer/vocab.json', 2_776_833, 'ca10d7e9fb3ed18575dd1e277a2579c16d108e32f27439684afa0e10b1440910'),
];

/** By the recogniser's name. */
export const RECOGNISER_FILES: Readonly<Record<string, RecogniserFiles>> = {
  'moonshine-streaming-small-en': moonshine(
    'small-streaming-en/quantized_26_08_21',
    [
      file('adapter.ort', 2_870_368, 'c665f742364febad597cc9ac1e0b341ffbee0e24a1466e2f3bde95e6e4771762'),
      file('cross_kv.ort', 5_356_536, 'e2d3417144e9514055ebfefe8dcc4c0a55a55adcb8530435844c75c53e352bf6'),
      file('decoder_kv.ort', 81_878_600, '1a05465b1dd955858dfcbee039c0020fb5dd982b0f5094c34e61735d518d771b'),
      file('encoder.ort', 44_148_576, '2d4d973e91e8aca08c51e7e7efa28a46ab265b63d809d5294d18b86bcd85b993'),
      file('frontend.model.ort', 26_944, '09b1210ae30dc5f0f3e45f0ebab914c254741323114f53fbbe5ae62cca35058f'),
      file('frontend.weights.ort', 7_769_464, '7ef97521bd4bad3928f5bb6808586f4fcc6e92bd5990394112eed7d4052ec338'),
      file('streaming_config.json', 512, '26f02b6afb22d60871a5efd85c3d38e569cc0ddb6c5eb6e93d3260152ae8a47a'),
      file('tokenizer.bin', 249_974, '6884b35fd6377d4c4d32336a0bc152f36b64d1e45b6503683cdc238250a8472d'),
    ],
    [file('decoder_kv_with_attention.ort', 81_766_608, 'crc32c:23325754')],
  ),
  'moonshine-streaming-medium-en': moonshine(
    'medium-streaming-en/quantized_26_08_21',
    [
      file('adapter.ort', 3_651_296, '3f2a287def57cc094367a0eec3c4f5fc36a32ec420e86764b696920991b20281'),
      file('cross_kv.ort', 11_643_776, '642f6e21cd305be79342207c6f9e6b681d469d55bc48c72b27b84846fb71fd1e'),
      file('decoder_kv.ort', 146_972_408, '193bb366492b74fc4ad338c6778e8d8eb916aaa11b5aa264f9057f4db7759486'),
      file('encoder.ort', 94_705_376, '12915e76ebac7dd287c5ea63965d06103a53ba1ce242a4a34f318f3958c60c37'),
      file('frontend.model.ort', 28_720, '95768855c70c8251eeecc05fedf69999da1b8ab16f605c9f457fd3354b0ad6b5'),
      file('frontend.weights.ort', 11_889_560, '5ac941f490cbe035b335b99a414cc393d62d4c6f9f2423495b286870d271d709'),
      file('streaming_config.json', 513, '28e83b7a28e91472692a035e0dae3116422ae43aeb2bef5ed822c44ce89b88af'),
      file('tokenizer.bin', 249_974, '6884b35fd6377d4c4d32336a0bc152f36b64d1e45b6503683cdc238250a8472d'),
    ],
    [file('decoder_kv_with_attention.ort', 146_813_344, 'crc32c:d9240e40')],
  ),
  'moonshine-streaming-tiny-en': moonshine(
    'tiny-streaming-en/quantized_26_08_21',
    [
      file('adapter.ort', 1_319_664, '22ecc949e146c49667fda28d102d4e30749a107dc88a396292aa8f277ef1347c'),
      file('cross_kv.ort', 1_287_544, '143a36667b8d05fd9d04e8c337b7ee121f37ef299aea6b3d82bdb3d3401950b4'),
      file('decoder_kv.ort', 32_583_720, '8852553f312adb6c9aa4d17418015049b30f412209ee569d336548c0044627de'),
      file('encoder.ort', 7_675_440, 'a8414e1a5dedf9f2093d7680601dd8a9b0433e7020260eafe0e370ead91134ca'),
      file('frontend.model.ort', 23_344, '5121b561417b638afce0c6c31b760e37c93cf97f80d9b0031aad1fe7b6f25d61'),
      file('frontend.weights.ort', 2_093_464, '217da24ac6f522ebf02da8ef288e77d1ac68d50d4a6821433182e4fbf4204bbd'),
      file('streaming_config.json', 509, '74fe5ddebd63b17caf59e8a3b18c17547ff7bce1642050edbb1c3962674f8950'),
      file('tokenizer.bin', 249_974, '6884b35fd6377d4c4d32336a0bc152f36b64d1e45b6503683cdc238250a8472d'),
    ],
    [file('decoder_kv_with_attention.ort', 32_515_016, 'crc32c:cc5796c9')],
  ),
  'moonshine-streaming-small-de': moonshine('small-streaming-de/quantized_26_08_24', [
    file('adapter.ort', 2_869_296, 'crc32c:af1e5e02'),
    file('cross_kv.ort', 5_358_752, 'crc32c:07d69cdb'),
    file('decoder_kv.ort', 61_314_512, 'crc32c:21131909'),
    file('encoder.ort', 44_358_376, 'crc32c:008d6366'),
    file('frontend.model.ort', 26_776, 'crc32c:9c615413'),
    file('frontend.weights.ort', 7_769_280, 'crc32c:9144ab6c'),
    file('streaming_config.json', 512, 'crc32c:63fa041f'),
    file('tokenizer.bin', 103_319, 'crc32c:c76d7d43'),
  ]),
  'moonshine-streaming-tiny-de': moonshine('tiny-streaming-de/quantized_26_08_24', [
    file('adapter.ort', 1_318_472, 'crc32c:439455a3'),
    file('cross_kv.ort', 1_288_120, 'crc32c:63cb2081'),
    file('decoder_kv.ort', 19_717_336, 'crc32c:d01b63ed'),
    file('encoder.ort', 7_772_792, 'crc32c:50cc6f42'),
    file('frontend.model.ort', 23_176, 'crc32c:8c1771e1'),
    file('frontend.weights.ort', 2_093_280, 'crc32c:2e38abc7'),
    file('streaming_config.json', 509, 'crc32c:c07fd578'),
    file('tokenizer.bin', 103_319, 'crc32c:c76d7d43'),
  ]),
  'moonshine-streaming-small-es': moonshine('small-streaming-es/quantized_26_08_24', [
    file('adapter.ort', 2_869_296, '04b54114c8aab534222922640f7ca0882948ff9f6ed76777f6e184e55a8e8b15'),
    file('cross_kv.ort', 5_358_752, '4bfd0a641d72ccdae22751f86bbb2e25ff70c1fba4f81213f2415a1accff9618'),
    file('decoder_kv.ort', 61_314_512, '5b77c3d6baf801ef925a5bc54d7eb3db0c35ebbb86f8eaf5390d7f5bb42fef37'),
    file('encoder.ort', 44_358_376, 'a9b8d6d5d9348d0e319cceffdb0196ef622df8e4e9f3fb4797dcd8dfafd50857'),
    file('frontend.model.ort', 26_776, '69c76287f49db365aa278d4908ec450e69ca1b4bfb7e836159d963d623ee0c13'),
    file('frontend.weights.ort', 7_769_280, '2f5a0eb5f3004c9447810d74274a352746319a32144e31d95ef410f425b84dda'),
    file('streaming_config.json', 512, '12d16c7f5ea6734d197b79baf47914ea7e996d6fca8d303a19aca10d0617cecc'),
    file('tokenizer.bin', 102_888, '5fbb7d4314dcb18e03c5f975609e4a4cd572b22b01d2b2accb1b3e6830696f36'),
  ]),
  'moonshine-streaming-tiny-es': moonshine('tiny-streaming-es/quantized_26_08_24', [
    file('adapter.ort', 1_318_472, '2efd97cd2ee7d89578dd1d429a849be9fe37ac81dd9c4e1d31c8a2e7f85d43e6'),
    file('cross_kv.ort', 1_288_120, '9e268b1b3bb0f9ff79bca6e76055d41298de0a5ba52505ee04907a2642efa3ae'),
    file('decoder_kv.ort', 19_717_336, '7adf56b982df98e385d71823b9a40cf9296ae3a746efcf03f3d7bb4604032db0'),
    file('encoder.ort', 7_772_792, 'ec9eb43a01fbfe242a2c6a86050cffe4a31050e1c9f084e98560d6c100004505'),
    file('frontend.model.ort', 23_176, '9d19434b861de0c1d2aff52556911ae565cf3212ebe6d7f797c76c5c5066c2fc'),
    file('frontend.weights.ort', 2_093_280, '5e4d5471cd5d984d4b94a603d861539ebf1dc72de11b0cf13f38316725d5ce48'),
    file('streaming_config.json', 509, 'd31afd7c2dd5ee9ae3fa232312c5b42cb3e4fe1c6e9c53d885f2bea63023790a'),
    file('tokenizer.bin', 102_888, '5fbb7d4314dcb18e03c5f975609e4a4cd572b22b01d2b2accb1b3e6830696f36'),
  ]),
  'moonshine-streaming-small-ja': moonshine('small-streaming-ja/quantized_26_08_23', [
    file('adapter.ort', 2_869_296, 'edcf20b9d0bc0a92bc0ddf37d8b96599de35a6cbee970368ed74c774b055e546'),
    file('cross_kv.ort', 5_358_752, 'fbd18ec7b9514391d7121f4d4abec1be05a60e94a0f174061428380bf772c3e7'),
    file('decoder_kv.ort', 61_314_512, '1246d81eeb96df05d0163dcd48ce271a061b01aa3aea047239fbde22485248be'),
    file('encoder.ort', 44_358_376, '1da7cc82cb91d30ad9dc4e338fb80e7a2336b2c8ad634b826419222698fbe3a5'),
    file('frontend.model.ort', 31_208, 'de65092295f011a39ee569f03d073e3564d94252efd74ebde16d720bcc43e38b'),
    file('frontend.weights.ort', 7_769_288, '4e89578a495a6c4dd5632e7acaf2fc38841e6831738c2702ef10f873125a14ec'),
    file('streaming_config.json', 512, '12d16c7f5ea6734d197b79baf47914ea7e996d6fca8d303a19aca10d0617cecc'),
    file('tokenizer.bin', 101_836, '9f2599f20c3a9b03d79dbe122e443647c6589ce8e5c73e65e5c5d6f73485d5de'),
  ]),
  'moonshine-streaming-tiny-ja': moonshine('tiny-streaming-ja/quantized_26_08_23', [
    file('adapter.ort', 1_318_472, 'crc32c:a1bcce8e'),
    file('cross_kv.ort', 1_288_120, 'crc32c:81b602b3'),
    file('decoder_kv.ort', 19_717_336, 'crc32c:31cfd8a9'),
    file('encoder.ort', 7_772_792, 'crc32c:652d133e'),
    file('frontend.model.ort', 27_608, 'crc32c:053a5c7e'),
    file('frontend.weights.ort', 2_093_288, 'crc32c:4f897fdd'),
    file('streaming_config.json', 509, 'crc32c:c07fd578'),
    file('tokenizer.bin', 101_836, 'crc32c:33de0e82'),
  ]),
  'moonshine-streaming-tiny-ar': moonshine('tiny-streaming-ar/quantized_26_08_24', [
    file('adapter.ort', 1_318_472, 'crc32c:05afccdc'),
    file('cross_kv.ort', 1_288_120, 'crc32c:05751eff'),
    file('decoder_kv.ort', 19_717_336, 'crc32c:b396f064'),
    file('encoder.ort', 7_772_792, 'crc32c:eada7b32'),
    file('frontend.model.ort', 23_176, 'crc32c:94b9abb0'),
    file('frontend.weights.ort', 2_093_280, 'crc32c:7b123c8e'),
    file('streaming_config.json', 509, 'crc32c:c07fd578'),
    file('tokenizer.bin', 135_726, 'crc32c:cbcd2da1'),
  ]),
  'moonshine-streaming-tiny-tl': moonshine('tiny-streaming-tl/quantized_26_08_24', [
    file('adapter.ort', 1_318_472, 'crc32c:65abbe22'),
    file('cross_kv.ort', 1_288_120, 'crc32c:8b0bab77'),
    file('decoder_kv.ort', 19_717_336, 'crc32c:8ec38780'),
    file('encoder.ort', 7_772_792, 'crc32c:9f1d0c17'),
    file('frontend.model.ort', 27_608, 'crc32c:b3d468ee'),
    file('frontend.weights.ort', 2_093_288, 'crc32c:504015f5'),
    file('streaming_config.json', 509, 'crc32c:c07fd578'),
    file('tokenizer.bin', 91_356, 'crc32c:e2e38d7d'),
  ]),
  'moonshine-streaming-tiny-vi': moonshine('tiny-streaming-vi/quantized_26_08_24', [
    file('adapter.ort', 1_318_472, 'crc32c:71d57b43'),
    file('cross_kv.ort', 1_288_120, 'crc32c:69e35ad0'),
    file('decoder_kv.ort', 19_717_336, 'crc32c:efdd9d49'),
    file('encoder.ort', 7_772_792, 'crc32c:e6f03d87'),
    file('frontend.model.ort', 23_176, 'crc32c:4f866927'),
    file('frontend.weights.ort', 2_093_280, 'crc32c:41e668f1'),
    file('streaming_config.json', 509, 'crc32c:c07fd578'),
    file('tokenizer.bin', 95_323, 'crc32c:ef3be368'),
  ]),
  'moonshine-streaming-tiny-zh': moonshine('tiny-streaming-zh/quantized_26_08_24', [
    file('adapter.ort', 1_318_472, 'crc32c:86bee3ea'),
    file('cross_kv.ort', 1_288_120, 'crc32c:7e21b21f'),
    file('decoder_kv.ort', 19_717_336, 'crc32c:aebf4ed8'),
    file('encoder.ort', 7_772_792, 'crc32c:0473d8df'),
    file('frontend.model.ort', 27_608, 'crc32c:e2017ec6'),
    file('frontend.weights.ort', 2_090_728, 'crc32c:2afd6461'),
    file('streaming_config.json', 509, 'crc32c:c07fd578'),
    file('tokenizer.bin', 74_587, 'crc32c:9d02713d'),
  ]),
  'qwen3-asr-0.6b': huggingFace(
    'csukuangfj2/sherpa-onnx-qwen3-asr-0.6B-int8-2026-03-25',
    '68818b2313fe77bd06f6a7c5068ff3ef59d02b8a',
    [
      file('conv_frontend.onnx', 44_148_281, 'd22dc4423e0940e49884e903d2ea2f7e5567c14fc1aed97e4e26d6b8f208ef9e'),
      file('decoder.int8.onnx', 755_914_231, '4f6885be5959ae26af3089d38ee7972c5fafbeeb1cf8d5e76eab6d8b61ca5771'),
      file('encoder.int8.onnx', 182_491_662, '60748d3e6744a57c9c91e1b17424a6c2990567e8adceb0783940c03ed98fa9d9'),
      ...QWEN_TOKENIZER,
    ],
  ),
  'qwen3-asr-1.7b': huggingFace('ilmina/qwen3-asr-1.7b-sherpa-onnx', '66fb5ea2d4d1682ff8a663bf7e788913604996a0', [
    file('conv_frontend.onnx', 48_080_441, 'fa894a4ba53da6a4238f2a6ca0b09362e505d39cecbd646051b033e2e8d7e2fb'),
    file('decoder.int8.onnx', 2_037_458_645, 'c43c853fa6e97d08365cb8a5502b360b595cd43c00dc60e4d8ca7cc18cad460b'),
    file('encoder.int8.onnx', 314_222_162, '436fbd910a0c8914851e5ac1354e807be9f283d08a5da728adaa609731c41469'),
    ...QWEN_TOKENIZER,
  ]),
  'whisper-base': huggingFace('onnx-community/whisper-base', '1846881b6b3a3024392c1eea3ad983695bc23925', [
    file('config.json', 2243, 'f4d0608f7d918166da7edb3e188de5ef1bfe70d9802e785d271fd88111e9cf4b'),
    file('generation_config.json', 3832, '61070cf8de25b1e9256e8e102ded49d8d24a8369ed36ef84fdf21549e68125a0'),
    file(
      'onnx/decoder_model_merged_quantized.onnx',
      53_693_315,
      'fa3ef9902734ce5ae6f9ef2bdb2ba9a6c4b5785b09f4f420ce036573dc9d090b',
    ),
    file(
      'onnx/encoder_model_quantized.onnx',
      23_201_314,
      '5862993336bf33acd23736071aae2b32261d3b1b2f37780194460d4ef974dd46',
    ),
    file('tokenizer.json', 2_480_466, '27fc476bfe7f17299480be2273fc0608e4d5a99aba2ab5dec5374b4482d1a566'),
  ]),
  'whisper-small': huggingFace('onnx-community/whisper-small', '36050c46d777d46dc4b5f43f6d90574fc38f8732', [
    file('config.json', 2227, '457854d452f17661e197d74aee12b8e74fb75ba30ebfaa7426d0d61ea1e08a18'),
    file('generation_config.json', 3893, 'f538b28220c6a6d6f1af1458d4141cacb4ef4963df3de98a19490440c412ddf0'),
    file(
      'onnx/decoder_model_merged_quantized.onnx',
      156_750_845,
      'ec07c3cbb64172c39791e26ee870a65ac22b458c36722bfe2776b3dbf741e0c9',
    ),
    file(
      'onnx/encoder_model_quantized.onnx',
      92_326_160,
      'a43a83f3c5361cd591cfa7c36f14b43cf7cb22f47a415cc14a8d557be800fa92',
    ),
    file('tokenizer.json', 2_480_466, '27fc476bfe7f17299480be2273fc0608e4d5a99aba2ab5dec5374b4482d1a566'),
  ]),
  'whisper-large-v3-turbo': huggingFace(
    'onnx-community/whisper-large-v3-turbo',
    '360ebcde2559d60bb474678be3c1de9ef347d01a',
    [
      file('config.json', 1332, '35cd83669f75bc2867f3b3a4461850392d5e308cd6ea951c3700539883c28df1'),
      file('generation_config.json', 3897, '16f95291d2f47c944d3c2b19390bba7965666555c1ea2a0bdc850d1fab45612f'),
      file(
        'onnx/decoder_model_merged_quantized.onnx',
        439_936_716,
        '61481bd3be3a445d5a4b9070e8f8b2c6cc4fbbbbdc9f0e7ed048a132b8b84e0d',
      ),
      file(
        'onnx/encoder_model_quantized.onnx',
        644_822_195,
        'd2f853dc3254fdc0079f55dd4433ea716ac98ec5574d3b475f288f2a77cebba9',
      ),
      file('tokenizer.json', 2_480_617, '6d8cbd7cd0d8d5815e478dac67b85a26bbe77c1f5e0c6d76d1ce2abc0e5f21ca'),
    ],
  ),
  'parakeet-tdt-0.6b-v3': huggingFace(
    'istupakov/parakeet-tdt-0.6b-v3-onnx',
    '8f23f0c03c8761650bdb5b40aaf3e40d2c15f1ce',
    [
      file('config.json', 97, '666903c76b9798caf2c210afd4f6cd60b08a8dbf9800ec8d7a3bc0d2148ac466'),
      file(
        'decoder_joint-model.int8.onnx',
        18_202_004,
        'eea7483ee3d1a30375daedc8ed83e3960c91b098812127a0d99d1c8977667a70',
      ),
      file('encoder-model.int8.onnx', 652_183_999, '6139d2fa7e1b086097b277c7149725edbab89cc7c7ae64b23c741be4055aff09'),
      file('vocab.txt', 93_939, 'd58544679ea4bc6ac563d1f545eb7d474bd6cfa467f0a6e2c1dc1c7d37e3c35d'),
    ],
  ),
  'parakeet-tdt-0.6b-v2': huggingFace(
    'istupakov/parakeet-tdt-0.6b-v2-onnx',
    '0bbb45a3365852604aef28b538a8f066f4ccaa85',
    [
      file('config.json', 97, '666903c76b9798caf2c210afd4f6cd60b08a8dbf9800ec8d7a3bc0d2148ac466'),
      file(
        'decoder_joint-model.int8.onnx',
        8_998_286,
        'a449f49acd68979d418651dd2dcb737cc0f1bf0225e009e29ee326354edbf7d3',
      ),
      file('encoder-model.int8.onnx', 652_184_014, '3e0581fda6ab843888b51e56d7ee78b6d5bc3237ec113af1f732d1d5286aa155'),
      file('vocab.txt', 9_384, 'ec182b70dd42113aff6c5372c75cac58c952443eb22322f57bbd7f53977d497d'),
    ],
  ),
  'moonshine-base-en': moonshine('base-en/quantized/base-en', [
    file('decoder_model_merged.ort', 109_424_400, 'd9d7b333af34bc552580576ddcf248a1c6c839e0d3b43b09afb9376ed009899d'),
    file('encoder_model.ort', 31_326_816, '7c66495948d0d08ec1af454cd4b5514862ae6511e94712a60e6d83eaec8dc8cf'),
    file('tokenizer.bin', 249_974, '6884b35fd6377d4c4d32336a0bc152f36b64d1e45b6503683cdc238250a8472d'),
  ]),
  'moonshine-base-ar': moonshine('base-ar/quantized/base-ar', [
    file('decoder_model_merged.ort', 109_424_552, 'crc32c:bb5ecf90'),
    file('encoder_model.ort', 31_326_824, 'crc32c:420c4bdd'),
    file('tokenizer.bin', 249_974, 'crc32c:07bb35d1'),
  ]),
  'moonshine-base-es': moonshine('base-es/quantized/base-es', [
    file('decoder_model_merged.ort', 43_612_200, 'crc32c:f4d52e61'),
    file('encoder_model.ort', 20_964_320, 'crc32c:da780cee'),
    file('tokenizer.bin', 241_639, 'crc32c:1010be1f'),
  ]),
  'moonshine-base-ja': moonshine('base-ja/quantized/base-ja', [
    file('decoder_model_merged.ort', 109_424_424, 'crc32c:14b06cd0'),
    file('encoder_model.ort', 31_326_816, 'crc32c:2c4aec3f'),
    file('tokenizer.bin', 249_974, 'crc32c:07bb35d1'),
  ]),
  'moonshine-tiny-ja': moonshine('tiny-ja/quantized/tiny-ja', [
    file('decoder_model_merged.ort', 58_327_272, 'crc32c:ca21f5aa'),
    file('encoder_model.ort', 13_238_184, 'crc32c:5095fa7c'),
    file('tokenizer.bin', 249_974, 'crc32c:07bb35d1'),
  ]),
  'moonshine-tiny-ko': moonshine('tiny-ko/quantized/tiny-ko', [
    file('decoder_model_merged.ort', 58_327_336, 'crc32c:b23c0c08'),
    file('encoder_model.ort', 13_238_176, 'crc32c:91cce1c1'),
    file('tokenizer.bin', 249_974, 'crc32c:07bb35d1'),
  ]),
  'moonshine-base-uk': moonshine('base-uk/quantized/base-uk', [
    file('decoder_model_merged.ort', 109_424_424, 'crc32c:9807fa68'),
    file('encoder_model.ort', 31_326_816, 'crc32c:57a9d932'),
    file('tokenizer.bin', 249_974, 'crc32c:07bb35d1'),
  ]),
  'moonshine-base-vi': moonshine('base-vi/quantized/base-vi', [
    file('decoder_model_merged.ort', 109_424_520, 'crc32c:d10da72c'),
    file('encoder_model.ort', 31_326_816, 'crc32c:bff686b2'),
    file('tokenizer.bin', 249_974, 'crc32c:07bb35d1'),
  ]),
  'moonshine-base-zh': moonshine('base-zh/quantized/base-zh', [
    file('decoder_model_merged.ort', 109_424_520, 'crc32c:09b749d8'),
    file('encoder_model.ort', 31_326_816, 'crc32c:3078f2ad'),
    file('tokenizer.bin', 249_974, 'crc32c:07bb35d1'),
  ]),
};
