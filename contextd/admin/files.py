"""Read and write CSV and JSON files of records, with the line of each row."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import tablib
from import_export.formats import base_formats

from contextd import spreadsheets
from contextd.errors import Invalid

MAX_CELL_BYTES = 10 * 1024 * 1024
LINE = "line"
"""The added column with the line where a row begins."""

Row = Mapping[str, Any]


class Csv(base_formats.CSV):  # type: ignore[misc]  # the library has no types
    """CSV with a header; cells hold lists and objects as JSON."""

    def create_dataset(self, in_stream: str | bytes, **options: Any) -> tablib.Dataset:
        return dataset_of(csv_rows(decoded(in_stream)))

    def export_data(self, dataset: tablib.Dataset, **options: Any) -> str:
        out = io.StringIO()
        writer = csv.writer(out)
        writer.writerow(dataset.headers)
        cell_of = partial(spreadsheets.cell_of, ensure_ascii=False)
        writer.writerows(map(cell_of, row) for row in dataset)
        return out.getvalue()


class Json(base_formats.JSON):  # type: ignore[misc]  # the library has no types
    """JSON as a list of objects."""

    def create_dataset(self, in_stream: str | bytes, **options: Any) -> tablib.Dataset:
        return dataset_of(json_rows(decoded(in_stream)))

    def export_data(self, dataset: tablib.Dataset, **options: Any) -> str:
        rows = [dict(zip(dataset.headers, row, strict=True)) for row in dataset]
        return json.dumps(rows, indent=2, ensure_ascii=False) + "\n"


def decoded(content: str | bytes) -> str:
    return content if isinstance(content, str) else content.decode("utf-8-sig")


def dataset_of(rows: Iterator[Row]) -> tablib.Dataset:
    """Build a dataset with the columns of all rows; missing values are None."""
    read = list(rows)
    headers = list(dict.fromkeys([LINE, *(name for row in read for name in row)]))
    return tablib.Dataset(*([row.get(name) for name in headers] for row in read), headers=headers)


def csv_rows(text: str) -> Iterator[Row]:
    csv.field_size_limit(MAX_CELL_BYTES)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    headers = next(reader, [])
    line = reader.line_num + 1
    problems = []
    for cells in reader:
        if len(cells) == len(headers):
            yield {LINE: line, **dict(zip(headers, map(spreadsheets.read, cells), strict=True))}
        elif cells:
            problems.append(f"line {line} has {len(cells)} cells, the header {len(headers)}")
        line = reader.line_num + 1
    refuse(problems)


def json_rows(text: str) -> Iterator[Row]:
    """Read rows one by one, to know the line where each begins."""
    try:
        content = json.loads(text)  # rejects trailing text, which `raw_decode` ignores
    except ValueError as error:
        raise Invalid(f"the file is not JSON: {error}") from None
    if not isinstance(content, list):
        raise Invalid("the file must be a list of objects")
    decoder, place = json.JSONDecoder(), text.index("[") + 1
    line, counted = 1, 0
    problems = []
    while (place := after_white(text, place)) < len(text) and text[place] != "]":
        line, counted = line + text.count("\n", counted, place), place
        row, place = decoder.raw_decode(text, place)
        if isinstance(row, dict):
            yield {LINE: line, **row}
        else:
            problems.append(f"line {line} is not an object")
    refuse(problems)


def refuse(problems: Sequence[str]) -> None:
    """Raise Invalid with all the problems, if there are any."""
    if problems:
        raise Invalid("; ".join(problems))


def after_white(text: str, place: int) -> int:
    while place < len(text) and text[place] in " \t\r\n,":
        place += 1
    return place
