/** The shape of Moonshine tiny, arXiv:2410.15608, table 1; and what its graphs' inputs and outputs are called. */
import type { ValueType } from './builder.ts';

/** Layers of the encoder, and of the decoder. */
export const LAYERS = 6;
export const HEADS = 8;
export const HEAD_SIZE = 36;
export const HIDDEN_SIZE = HEADS * HEAD_SIZE;

/** Numbers of each head that the rotary embedding turns by the position. */
export const ROTARY_SIZE = 32;

/** Samples (16 kHz) that a frame of the encoder stands for. */
export const FRAME_SAMPLES = 384;

/**
 * The encoder's convolutions behind the first one: how many channels go in, and how many frames it is from one output
 * to the next. An output looks at `strides` times so many frames, and at one more.
 */
export const CONVOLUTIONS = [
  { name: 'conv2', channels: HIDDEN_SIZE, stride: 3, strides: 2 },
  { name: 'conv3', channels: 2 * HIDDEN_SIZE, stride: 2, strides: 1 },
] as const;

/**
 * The layers (from, and up to) of each of the encoder's graphs, which take about equally long: convolutions as long as
 * two layers. The first one has the convolutions besides, the last one the decoder's keys and values.
 */
export const ENCODER_LAYERS: readonly (readonly [number, number])[] = [
  [0, 0],
  [0, 2],
  [2, 4],
  [4, LAYERS],
];

/** What goes from one of the encoder's graphs to the next: its output there, its input here. */
export const NEXT_FRAMES_NAME = 'next frames';
export const FRAMES_NAME = 'frames';
export const FRAMES: ValueType = { type: 'float', dims: [1, 'frames', HIDDEN_SIZE] };

/** The decoder layer whose cross-attention says where in the speech a token was found. */
export const ALIGNING_LAYER = 4;

/** Tokens there are; the embedding is the output projection too. */
export const VOCABULARY_SIZE = 32_768;

/** The token that every text begins with. */
export const START_TOKEN = 1;
/** The token that ends a text. */
export const END_TOKEN = 2;

/** Keys and values of every layer, in the order in which graphs take and give them. */
const PARTS = Array.from({ length: LAYERS }, (_, layer) => [`key.${layer}`, `value.${layer}`]).flat();

/**
 * What the text's tokens attend to in the speech, keys and values in turn: outputs of the encoder graph, inputs of the
 * decoder graph.
 */
export const CROSS_NAMES: readonly string[] = PARTS.map((part) => `cross.${part}`);
/** What a token attends to in the text before it: inputs of the decoder graph… */
export const PAST_NAMES: readonly string[] = PARTS.map((part) => `past.${part}`);
/** …and its outputs, to go on with. */
export const PRESENT_NAMES: readonly string[] = PARTS.map((part) => `present.${part}`);

/** What the cross-attention's keys (scaled beforehand) and values are. */
export const CROSS: ValueType = { type: 'float', dims: [1, HEADS, 'frames', HEAD_SIZE] };
