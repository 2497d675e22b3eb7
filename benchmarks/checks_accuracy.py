"""How often the rules are right: runs that break one rule each, and runs that obey all of them.

    python benchmarks/checks_accuracy.py [--failures]

The runs are those of `tests/checks` and of `sample-logs`: a model of the agent writes its logs, a
fault is put into the records, and the product reads, stores and checks them. A rule is right where
it is found broken at the request and the message where it is, and found nowhere else. `hidden` runs
are the same ones in logs that hold only the last four messages of each list: there the rule must be
found or said to be undecidable. Returns 1 where anything is not as it should be.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.checks.corpus import Trial, healthy_trials, trials
from tracer.checks import all_rules
from tracer.model.findings import Level

COLUMNS = ("rule", "level", "runs", "found", "at its place", "hidden: found", "or said", "false")


def main() -> int:
    """Print the table; 1 where a rule is missed, misplaced, silent or wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--failures", action="store_true", help="list every disagreement")
    options = parser.parse_args()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        broken = list(trials(Path(folder)))
        healthy = list(healthy_trials(Path(folder)))
    false, failures = judge(broken, healthy)
    print(table(broken, false))
    print()
    for family in sorted({trial.family for trial in healthy}):
        own = [trial for trial in healthy if trial.family == family]
        clean = sum(not trial.others for trial in own)
        print(f"{family}: {len(own)} healthy runs, {clean} without an error or a warning")
    told = Counter(f.rule for trial in healthy for f in trial.findings if f.level is Level.INFO)
    for rule, count in sorted(told.items()):
        print(f"for information, true by nature: {rule} in {count} of them")
    print(f"{time.perf_counter() - began:.0f} s")
    if options.failures:
        print("\n".join(["", *failures]))
    return 1 if failures else 0


def judge(broken: list[Trial], healthy: list[Trial]) -> tuple[Counter[str], list[str]]:
    """False alarms by rule, and every disagreement in words."""
    false: Counter[str] = Counter()
    failures = []
    for trial in broken:
        if not (trial.hidden or trial.at_place):
            failures.append(f"{trial.name}: {trial.rule} is not found at its place")
        if trial.hidden and not (trial.found or trial.undecided):
            failures.append(f"{trial.name}: {trial.rule} passes silently")
    for trial in (*broken, *healthy):
        for found in trial.others:
            false[found.rule] += 1
            failures.append(f"{trial.name}: {found.rule} at {found.key}: {found.message}")
    missing = {rule.name for rule in all_rules()} - {trial.rule for trial in broken}
    failures += [f"{rule}: no run breaks it" for rule in sorted(missing)]
    return false, failures


def table(broken: list[Trial], false: Counter[str]) -> str:
    """One line a rule."""
    lines = [f"{COLUMNS[0]:<40} {COLUMNS[1]:<8}" + "".join(f"{c:>15}" for c in COLUMNS[2:])]
    totals = [0] * (len(COLUMNS) - 2)
    for rule in all_rules():
        own = [t for t in broken if t.rule == rule.name and not t.hidden]
        hidden = [t for t in broken if t.rule == rule.name and t.hidden]
        numbers = [
            len(own),
            sum(t.found for t in own),
            sum(t.at_place for t in own),
            sum(t.found for t in hidden),
            sum(t.undecided and not t.found for t in hidden),
            false[rule.name],
        ]
        totals = [a + b for a, b in zip(totals, numbers, strict=True)]
        lines.append(f"{rule.name:<40} {rule.level:<8}" + "".join(f"{n:>15}" for n in numbers))
    lines.append(f"{'all':<40} {'':<8}" + "".join(f"{n:>15}" for n in totals))
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
