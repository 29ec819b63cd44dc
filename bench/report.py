"""Turns `results.json` into `RESULTS.md`."""

import textwrap

HOW = """`make bench` writes this file: quince and its peers on the same arrays, in the same run, two threads each, in turns,
the best of at least five runs. A ratio says how many times longer a peer takes than quince. Memory is how far the process
grows above its arrays in its first run. An answer that disagrees is an error, and its time does not count, neither for
quince nor for a peer. A peer that no target names is asked only once if it is ten times slower than the quickest, and is
broken off after a minute."""

COLUMNS = """The product peak is numpy's matrix product in the task's own type, measured in the same run; a share is what the
plain method would compute, over the time. It passes 100 % where a method finds the same answer with less work, or an f64
answer by way of f32 products. *Reached* asks for the ratio, for an answer that agrees, and for no more memory than that
peer (within 1 MB)."""


def render(results, notes):
    parts = [
        "# quince and its peers",
        paragraph(HOW),
        summary(results),
        paragraph(COLUMNS),
        "## Tasks",
        *(section(name, task) for name, task in results["tasks"].items()),
        "## Machine and versions",
        *(environment(run) for run in results["runs"].values()),
    ]
    if notes:
        parts += ["## Notes", notes.strip()]
    return "\n\n".join(parts) + "\n"


def summary(results):
    rows = [summary_row(name, task) for name, task in results["tasks"].items()]
    return table(
        "task|type|asked|of those, the best|ratio|ratio to scikit-learn|ratio to best of all|memory, quince / peer|"
        "share of product peak|reached",
        "--|--|--|--|-:|-:|--|-:|-:|--",
        rows,
    )


def summary_row(name, task):
    asked = f"{task['target']:g} x {' / '.join(short(library) for library in task['against'])}"
    quince = next(row for row in task["rows"] if row["library"] == "quince")
    peers = [row for row in task["rows"] if row is not quince and counts(row)]
    rival = quickest(row for row in peers if row["library"] in task["against"])
    best = quickest(peers)
    if not counts(quince) or rival is None:
        reason = "quince has no right answer" if not counts(quince) else "no peer has a right answer"
        return [name, kind(task), asked, rival and rival["contestant"], "", "", "", "", "", f"no: {reason}"]
    return [
        f"[{name}](#{name})",
        kind(task),
        asked,
        rival["contestant"],
        ratio(rival, quince),
        ratio(quickest(row for row in peers if row["library"] == "scikit-learn"), quince),
        f"{ratio(best, quince)} {best['contestant']}",
        f"{megabytes(quince)} / {megabytes(rival)} MB",
        share(task, quince),
        reached(task, quince, rival),
    ]


def reached(task, quince, rival):
    missed = []
    if time(rival) < task["target"] * time(quince):
        missed.append("speed")
    if quince["memory"] > rival["memory"] + 2**20:
        missed.append("memory")
    return "**no**: " + " and ".join(missed) if missed else "yes"


def section(name, task):
    quince = next(row for row in task["rows"] if row["library"] == "quince")
    rows = []
    for row in task["rows"]:
        agreement = row["agreement"]
        if "warm_up" in row and not row["agrees"]:
            agreement = f"**error**: {agreement}"
        if "too_slow" in row:
            agreement = "broken off"
        if "error" in row:
            agreement = f"**error**: {row['error'][:200]}"
        other_type = f" ({short_type(row['dtype'])})" if row["dtype"] not in (None, task["dtype"]) else ""
        rows.append(
            [
                row["contestant"] + other_type,
                shown_time(row),
                ratio(row, quince) if time(row) and counts(quince) else "",
                megabytes(row),
                share(task, row) if time(row) and task["flops"] else "",
                "; ".join(filter(None, (agreement, row["note"]))).replace("|", "\\|"),
            ]
        )
    runs = sum(len(row["seconds"]) for row in task["rows"])
    about = [f"{task['title']}, {kind(task)}."]
    if task["note"]:
        about.append(f"Data: {task['note']}.")
    about.append(f"Product peak {task['peak'] / 1e9:.0f} GF/s. Measured at commit {task['run']}.")
    if task["busy"]:
        about.append(f"**{task['busy']} of {runs} runs began while the machine was busy with something else.**")
    head = "contestant|best, s|ratio|memory, MB|share of peak|answer"
    return f"### {name}\n\n" + paragraph(" ".join(about)) + "\n\n" + table(head, "--|-:|-:|-:|-:|--", rows)


def environment(run):
    machine = run["machine"]
    about = (
        f"Commit {run['commit']}: {machine['processor']} ({machine['vectors']}), {machine['cores']} cores of which "
        f"{machine['threads']} are used, {machine['memory']} memory."
    )
    versions = [[name, version] for name, version in run["versions"].items()]
    return paragraph(about) + "\n\n" + table("package|version", "--|--", versions)


def counts(row):
    """Does the time of this row count? Only with an answer, and a right one."""
    return row["agrees"] and "error" not in row and time(row) is not None


def time(row):
    return min(row["seconds"], default=row.get("warm_up"))


def quickest(rows):
    return min(rows, key=time, default=None)


def shown_time(row):
    if row["cannot"]:
        return "-"
    if "too_slow" in row:
        return row["too_slow"]
    if time(row) is None:
        return "error"
    return f"{time(row):.3f}" + ("" if row["seconds"] else " (one run)")


def ratio(row, quince):
    return f"{time(row) / time(quince):.2f}" if row else ""


def megabytes(row):
    return f"{row['memory'] / 2**20:.0f}" if row.get("memory") is not None else ""


def share(task, row):
    return f"{task['flops'] / time(row) / task['peak']:.0%}"


def kind(task):
    return short_type(task["dtype"])


def short_type(dtype):
    return dtype.replace("float", "f")


def short(library):
    return {"scikit-learn-intelex": "intelex"}.get(library, library)


def paragraph(words):
    return textwrap.fill(" ".join(words.split()), 120)


def table(head, rule, rows):
    lines = [head.split("|"), rule.split("|"), *rows]
    return "\n".join("| " + " | ".join(cell or "" for cell in line) + " |" for line in lines)
