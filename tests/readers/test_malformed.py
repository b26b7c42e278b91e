"""Every malformed file is refused in one sentence that says where and what."""

import pytest

from tacit.errors import DataError
from tacit.readers import read
from tacit.readers.source import Source


@pytest.mark.sampled(6)
def test_a_malformed_file_is_refused_with_place_and_value(malformed):
    path, case = malformed
    columns = dict([case.columns.split("=")]) if case.columns else None
    with pytest.raises(DataError) as refusal:
        read(path, scale=case.scale, columns=columns)
    sentence = str(refusal.value)
    assert str(path) in sentence
    for name in case.names:
        assert name in sentence
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert ". " not in sentence


def test_a_fault_far_into_a_file_is_found_by_its_line(tmp_path, monkeypatch):
    monkeypatch.setattr(Source.blocks, "__defaults__", (1 << 12,))
    path = tmp_path / "u.data"
    rows = [f"{n}\t{n % 97}\t{n % 5 + 1}\t{n}" for n in range(12_000)]
    rows[11_900] = "5\t6\t7\t8"
    path.write_text("\n".join(rows))
    assert path.stat().st_size > 32 << 12
    with pytest.raises(DataError, match="line 11901: rating '7' is off the scale 1:5:1"):
        read(path)


def test_a_file_that_breaks_off_names_the_last_line_read(tmp_path):
    path = tmp_path / "mv_1.txt"
    path.write_bytes(b"1:\n8,3,2005-09-06\n9,3,20")
    with pytest.raises(DataError, match="line 3: date '20' is not a day"):
        read(path)
