"""A real Triton whose model tells what it was sent. http://127.0.0.1:18000, gRPC at 18001."""
import numpy as np
from pytriton.decorators import batch
from pytriton.model_config import ModelConfig, Tensor
from pytriton.triton import Triton, TritonConfig


@batch
def echo(WAV, WAV_LENS, TEXT_PREFIX):
    texts = []
    for samples, length, prefix in zip(WAV, WAV_LENS, TEXT_PREFIX):
        language = prefix[0].decode().split("<|")[2].removesuffix("|>")
        texts.append([f"{int(length[0])} of {len(samples)} in {language}".encode()])
    return {"TRANSCRIPTS": np.array(texts)}


config = TritonConfig(
    http_address="127.0.0.1", http_port=18000, grpc_address="127.0.0.1", grpc_port=18001, allow_metrics=False
)
with Triton(config=config) as triton:
    triton.bind(
        model_name="echo",
        infer_func=echo,
        inputs=[
            Tensor(name="WAV", dtype=np.float32, shape=(-1,)),
            Tensor(name="WAV_LENS", dtype=np.int32, shape=(1,)),
            Tensor(name="TEXT_PREFIX", dtype=bytes, shape=(1,)),
        ],
        outputs=[Tensor(name="TRANSCRIPTS", dtype=bytes, shape=(1,))],
        config=ModelConfig(max_batch_size=8),
    )
    triton.run()
    print("ready", flush=True)
    triton.serve()
