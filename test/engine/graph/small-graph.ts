import { GraphBuilder } from '../../../engine/graph/builder.ts';
import { DATA_TYPE } from '../../../engine/graph/onnx-proto.ts';
import { tensor } from '../../../engine/graph/tensors.ts';

/**
 * A file with every kind of thing that graphs are made of: `doubled` is `value` [1, n] doubled `turns` times, `halves`
 * every half of it.
 */
export function smallGraph(): Uint8Array {
  const graph = new GraphBuilder();
  const value = graph.input('value', { type: 'float', dims: [1, 'n'] });
  const turns = graph.input('turns', { type: 'int64', dims: [] });
  const always = graph.constant(tensor('always', 'bool', [], Uint8Array.of(1)));
  const [doubled = '', halves = ''] = graph.addMany('Loop', [turns, always, value], 2, {
    attributes: { body: body(graph.body()) },
  });
  graph.output(doubled, 'doubled', { type: 'float', dims: [1, 'n'] });
  graph.output(halves, 'halves', { type: 'float', dims: ['turns', 1, 'n'] });
  return graph.file('small');
}

function body(graph: GraphBuilder) {
  graph.input('turn', { type: 'int64', dims: [] });
  graph.input('goes on', { type: 'bool', dims: [] });
  const value = graph.input('turn.value', { type: 'float', dims: [1, 'n'] });
  const two = graph.constant(tensor('two', 'float', [], Float32Array.of(2)));
  graph.output('goes on', 'turn.goes on', { type: 'bool', dims: [] });
  graph.output(graph.add('Mul', [value, two]), 'turn.doubled', { type: 'float', dims: [1, 'n'] });
  const half = graph.add('Div', [value, two]);
  const same = graph.add('Transpose', [graph.add('Transpose', [half], { attributes: { perm: [1n, 0n] } })], {
    attributes: { perm: [1n, 0n] },
  });
  const cast = graph.add('Cast', [same], { attributes: { to: BigInt(DATA_TYPE.float) } });
  graph.output(graph.add('QuickGelu', [cast], { microsoft: true, attributes: { alpha: 1000 } }), 'turn.half', {
    type: 'float',
    dims: [1, 'n'],
  });
  return graph.graph('turn');
}
