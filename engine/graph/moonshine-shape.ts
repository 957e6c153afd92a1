/** The shape of Moonshine tiny (arXiv:2410.15608, table 1), and the names of its graphs' inputs and outputs. */
import type { ValueType } from './builder.ts';

/** Layers of the encoder, and of the decoder. */
export const LAYERS = 6;
export const HEADS = 8;
export const HEAD_SIZE = 36;
export const HIDDEN_SIZE = HEADS * HEAD_SIZE;

/** How many numbers of each head the rotary embedding rotates by the position. */
export const ROTARY_SIZE = 32;

/** Samples (16 kHz) in a frame of the encoder. */
export const FRAME_SAMPLES = 384;

/**
 * The encoder's convolutions after the first one: the number of input channels, and the stride from one output to the
 * next in frames. An output depends on `strides` times `stride` frames and one more.
 */
export const CONVOLUTIONS = [
  { name: 'conv2', channels: HIDDEN_SIZE, stride: 3, strides: 2 },
  { name: 'conv3', channels: 2 * HIDDEN_SIZE, stride: 2, strides: 1 },
] as const;

/**
 * The layers (from, inclusive, and to, exclusive) of each of the encoder's graphs. All graphs take about the same time:
 * the convolutions take as long as two layers. The first graph has the convolutions, the last one also computes the
 * decoder's keys and values.
 */
export const ENCODER_LAYERS: readonly (readonly [number, number])[] = [
  [0, 0],
  [0, 2],
  [2, 4],
  [4, LAYERS],
];

/** The value that one of the encoder's graphs passes to the next: its name as an output and as an input. */
export const NEXT_FRAMES_NAME = 'next frames';
export const FRAMES_NAME = 'frames';
export const FRAMES: ValueType = { type: 'float', dims: [1, 'frames', HIDDEN_SIZE] };

/** The decoder layer whose cross-attention shows where in the speech a token was found. */
export const ALIGNING_LAYER = 4;

/** Number of tokens. The embedding is also the output projection. */
export const VOCABULARY_SIZE = 32_768;

/** The token that every text begins with. */
export const START_TOKEN = 1;
/** The token that ends a text. */
export const END_TOKEN = 2;

/** Keys and values of every layer, in the order in which graphs take and give them. */
const PARTS = Array.from({ length: LAYERS }, (_, layer) => [`key.${layer}`, `value.${layer}`]).flat();

/**
 * Keys and values of the cross-attention, alternating: outputs of the last encoder graph, inputs of the decoder graph.
 */
export const CROSS_NAMES: readonly string[] = PARTS.map((part) => `cross.${part}`);
/** Keys and values of the self-attention over the text so far, as inputs of the decoder graph. */
export const PAST_NAMES: readonly string[] = PARTS.map((part) => `past.${part}`);
/** The same as outputs, for the next run. */
export const PRESENT_NAMES: readonly string[] = PARTS.map((part) => `present.${part}`);

/** Type of the cross-attention's keys (already scaled) and values. */
export const CROSS: ValueType = { type: 'float', dims: [1, HEADS, 'frames', HEAD_SIZE] };
