"""A gate that names a cause which does not exist must not pass."""

from pathlib import Path

from click.testing import CliRunner

from tracer.cli import main
from tracer.service import ingest

SAMPLES = Path(__file__).parents[2] / "sample-logs" / "zcode"


def test_an_unknown_cause_is_wrong_use(tmp_path: Path) -> None:
    db = tmp_path / "x.db"
    ingest(db, [str(SAMPLES / "windowed-long")])

    def run(cause: str) -> tuple[int, str]:
        result = CliRunner().invoke(
            main, ["misses", "--cause", cause, "--fail-over", "0"], env={"TRACER_DB": str(db)}
        )
        return result.exit_code, result.output

    code, output = run("TTL_EXPIERD")
    assert code == 2
    assert "TTL_EXPIRED" in output, "the codes that exist are listed"
    assert run("ttl_expired")[0] == 1, "the right one fails the gate: the sample has such a miss"
