"""Generates the fast graph of the embedding model from the one that is shipped.

The package stores weights in 8 bits and multiplies in 32. Folded and quantised again, so that it
also multiplies in 8 bits, the model takes half the time and memory for the same ranking.
"""

import tempfile
from pathlib import Path

import onnx
import onnxruntime
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.quantization.quant_utils import add_pre_process_metadata


def make_fast(shipped: Path, fast: Path) -> None:
    """Generate the fast graph. It is renamed when complete, so concurrent processes do no harm."""
    fast.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=fast.parent) as scratch:
        folded, made = Path(scratch, "folded.onnx"), Path(scratch, "fast.onnx")
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.optimized_model_filepath = str(folded)
        options.log_severity_level = 3
        onnxruntime.InferenceSession(str(shipped), options, providers=["CPUExecutionProvider"])
        graph = onnx.load(folded)
        add_pre_process_metadata(graph)
        quantize_dynamic(
            graph,
            made,
            weight_type=QuantType.QInt8,
            per_channel=True,
            extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT},
        )
        made.rename(fast)
