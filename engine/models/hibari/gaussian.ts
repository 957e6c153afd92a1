/**
 * Gaussian noise that a seed determines: Marsaglia's xorshift128 and his and Tsang's ziggurat of 256 layers ("The
 * Ziggurat Method for Generating Random Variables", 2000), with the layer and the position taken from different bits.
 */

const LAYERS = 256;
/** Where the tail begins, and the area of each layer. */
const TAIL = 3.654_152_885_361_009;
const AREA = 0.004_928_673_233_99;
/** Right edges of the layers, and the density there. */
const { edges: EDGES, heights: HEIGHTS } = layOut();
/** Of 24 bits. */
const UNIT = 2 ** -24;
/** What one step of a signed number of 24 bits is in each layer. */
const WIDTHS = EDGES.map((edge) => 2 * UNIT * edge);

function density(x: number): number {
  return Math.exp((-x * x) / 2);
}

function layOut(): { edges: Float64Array; heights: Float64Array } {
  const edges = new Float64Array(LAYERS + 1);
  edges[0] = AREA / density(TAIL);
  edges[1] = TAIL;
  for (let i = 2; i < LAYERS; i++) {
    const last = edges[i - 1] as number;
    edges[i] = Math.sqrt(-2 * Math.log(AREA / last + density(last)));
  }
  return { edges, heights: edges.map(density) };
}

/** A stream of standard normal numbers. */
export class GaussianNoise {
  #x: number;
  #y = 362_436_069;
  #z = 521_288_629;
  #w = 88_675_123;

  /** @param seed any whole number; its lowest 32 bits count. */
  constructor(seed: number) {
    this.#x = (seed ^ 0x2545_f491) | 0;
    // The seed has to reach every bit of the state.
    for (let i = 0; i < 16; i++) this.#next();
  }

  /** Fills `numbers`. */
  fill(numbers: Float32Array): void {
    for (let i = 0; i < numbers.length; i++) {
      const bits = this.#next();
      const layer = bits & (LAYERS - 1);
      const x = (bits >> 8) * (WIDTHS[layer] as number);
      const inside = EDGES[layer + 1] as number;
      numbers[i] = x < inside && x > -inside ? x : this.#drawAtEdge(layer, x);
    }
  }

  /** One draw in a hundred falls where its layer is not all below the density. */
  #drawAtEdge(firstLayer: number, firstX: number): number {
    let layer = firstLayer;
    let x = firstX;
    for (;;) {
      if (layer === 0) return this.#drawTail(x < 0);
      const low = HEIGHTS[layer] as number;
      const high = HEIGHTS[layer + 1] as number;
      if (low + this.#uniform() * (high - low) < density(x)) return x;
      const bits = this.#next();
      layer = bits & (LAYERS - 1);
      x = (bits >> 8) * (WIDTHS[layer] as number);
      if (Math.abs(x) < (EDGES[layer + 1] as number)) return x;
    }
  }

  #drawTail(isNegative: boolean): number {
    for (;;) {
      const x = -Math.log(this.#uniform()) / TAIL;
      const y = -Math.log(this.#uniform());
      if (y + y > x * x) return isNegative ? -TAIL - x : TAIL + x;
    }
  }

  /** Above 0 and below 1. */
  #uniform(): number {
    return ((this.#next() >>> 8) + 0.5) * UNIT;
  }

  #next(): number {
    const t = this.#x ^ (this.#x << 11);
    this.#x = this.#y;
    this.#y = this.#z;
    this.#z = this.#w;
    this.#w = this.#w ^ (this.#w >>> 19) ^ t ^ (t >>> 8);
    return this.#w;
  }
}
