"""Messages and pages of format `arrow` (docs/reference/formats-arrow.md) as tables and data frames.

pyarrow and pandas are loaded when they are first asked for: who reads observations only needs neither.
"""

import json
from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any

from .observation import Observation

if TYPE_CHECKING:
    import pandas
    import pyarrow

_SPECIAL = ("topic", "time", "value", "text", "json", "truth", "unit", "type", "sensor", "lat", "lon")


def table_of(payload: bytes) -> "pyarrow.Table":
    """A table of one Arrow stream."""
    return _pyarrow().ipc.open_stream(payload).read_all()


def joined(pages: Sequence[bytes]) -> "pyarrow.Table":
    """One table of several streams; a column that some lack is null there, and each name stands once."""
    pyarrow = _pyarrow()
    tables = [table_of(page) for page in pages]
    return pyarrow.concat_tables(tables, promote_options="default").unify_dictionaries()


def frame_of(table: "pyarrow.Table") -> "pandas.DataFrame":
    """A data frame: `time` in nanoseconds of UTC, names as categories."""
    return table.to_pandas()


def payload_of(table: "pyarrow.Table | pandas.DataFrame") -> bytes:
    """An Arrow stream of a table or data frame, as the gateway reads it."""
    pyarrow = _pyarrow()
    if not isinstance(table, pyarrow.Table):
        table = pyarrow.Table.from_pandas(_columns_of(table), preserve_index=False)
    out = BytesIO()
    with pyarrow.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue()


def _columns_of(frame: "pandas.DataFrame") -> "pandas.DataFrame":
    """The frame with what its index says as columns: an index of times is `time`, one that is named as a column is
    that column, one that counts rows says nothing. A row without its time, where there are times, is refused: it would
    get the time of its arrival."""
    index, columns = frame.index, frame.columns
    is_of_times = index.nlevels == 1 and index.dtype.kind == "M"
    if is_of_times and "time" not in columns:
        frame = frame.reset_index(names="time")
    elif all(name in _SPECIAL and name not in columns for name in index.names):
        frame = frame.reset_index()
    elif not is_of_times and (index.nlevels > 1 or index.dtype.kind not in "iu"):
        raise ValueError(f"the index {list(index.names)} is no column that the gateway knows: drop it")
    if "time" in frame.columns and frame["time"].isna().any():
        row = int(frame["time"].isna().to_numpy().argmax())
        raise ValueError(f"row {row} has no time (NaT)")
    return frame


def observations_of(table: "pyarrow.Table") -> list[Observation]:
    """The rows as observations; a result is in the one of four columns that is not null."""
    return [_observation(row) for row in table.to_pylist()]


def _pyarrow() -> Any:
    try:
        import pyarrow.ipc
    except ImportError as missing:
        raise ImportError("tables need pyarrow: pip install 'weir-client[arrow]', or [pandas]") from missing
    return pyarrow


def _observation(row: dict[str, Any]) -> Observation:
    value = next((row[name] for name in ("value", "text", "truth") if row.get(name) is not None), None)
    if row.get("json") is not None:
        value = json.loads(row["json"])
    time: Any = row.get("time")
    return Observation(
        topic=row["topic"],
        value=value,
        time=time.to_pydatetime(warn=False) if hasattr(time, "to_pydatetime") else time,
        unit=row.get("unit"),
        type=row.get("type"),
        sensor=row.get("sensor"),
        lat=row.get("lat"),
        lon=row.get("lon"),
        more=_more(row),
    )


def _more(row: dict[str, Any]) -> dict[str, Any]:
    """The rare members as JSON has them: times are texts, and a valid time is two of them."""
    more = {name: member for name, member in row.items() if name not in _SPECIAL and member is not None}
    more = {name: member.isoformat() if hasattr(member, "isoformat") else member for name, member in more.items()}
    if "parameters" in more:
        more["parameters"] = json.loads(more["parameters"])
    if "validFrom" in more and "validTo" in more:
        more["validTime"] = [more.pop("validFrom"), more.pop("validTo")]
    return more
