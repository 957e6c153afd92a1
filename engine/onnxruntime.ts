/**
 * The only file that loads onnxruntime-node: behind the switch that keeps it from sending anything, whatever the
 * environment says.
 */
import './telemetry-off.ts';
import { env, InferenceSession, listSupportedBackends, Tensor } from 'onnxruntime-node';

export { env, InferenceSession, listSupportedBackends, Tensor };
