"""Turns `results.json` into `RESULTS.md`."""

import textwrap

HOW = """
`make bench` writes this file. quince and its peers do the same tasks on the same arrays in the same run, with two
threads each and alternately. A time is the best of at least five runs after a warm-up; where even the quickest needs more
than five seconds, the warm-up is the first of the five. Every answer is compared with scikit-learn's, and the time of
one that disagrees does not count."""

COLUMNS = [
    """**Times as fast**: a peer's time divided by quince's, so quince is ahead where it is above 1. Of a library that
    can do the task in several ways, each is timed and the quickest counts. intelex stands for scikit-learn-intelex.""",
    """**Goal**: how many times as fast as the quickest of the libraries named quince is to be, with an answer that
    agrees, and with no more memory than that peer; of texts, with half of its memory.""",
    """**Peak memory**: how far the process grows above its arrays in its first run.""",
    """**Share of product peak**: the multiplications and additions that the plain method needs, per second, as a share
    of those in numpy's matrix product of the task's own type, measured in the same run. It passes 100 % where a method
    finds the same answer with less work, or an f64 answer by way of f32 products.""",
    """**One run** is all that a peer gets which no goal names and whose answer disagrees or takes ten times as long as
    the quickest. It is broken off after a minute at most.""",
]


def render(results, notes):
    parts = [
        "# quince and its peers",
        paragraph(HOW),
        summary(results),
        "How to read the table:",
        "\n".join(paragraph(words, "- ") for words in COLUMNS),
        "## Tasks",
        *(section(name, task) for name, task in results["tasks"].items()),
        "## Machine and versions",
        *(environment(commits, run) for commits, run in environments(results["runs"])),
    ]
    if notes:
        parts += ["## Notes", notes.strip()]
    return "\n\n".join(parts) + "\n"


def summary(results):
    rows = [summary_row(name, task) for name, task in results["tasks"].items()]
    return table(
        "task|quince takes|goal: times as fast as|reached: times as fast as the quickest of those|"
        "times as fast as scikit-learn|times as fast as the quickest of all peers|"
        "peak memory of quince / of the quickest of those|share of product peak|goal met",
        "--|-:|--|--|--|--|-:|-:|--",
        rows,
    )


def summary_row(name, task):
    goal = f"{task['target']:g} x {', '.join(short(library) for library in task['against'])}"
    quince = next(row for row in task["rows"] if row["library"] == "quince")
    peers = [row for row in task["rows"] if row is not quince and counts(row)]
    rival = quickest(row for row in peers if row["library"] in task["against"])
    about = f"[{name}](#{name}): {', '.join(filter(None, (task['title'], kind(task), task['note'])))}"
    if not counts(quince) or rival is None:
        reason = "quince has no right answer" if not counts(quince) else "no peer has a right answer"
        return [about, "", goal, "", "", "", "", "", f"**no**: {reason}"]
    return [
        about,
        f"{time(quince):.3f} s",
        goal,
        times_as_fast(quince, rival),
        times_as_fast(quince, quickest(row for row in peers if row["library"] == "scikit-learn")),
        times_as_fast(quince, quickest(peers)),
        f"{megabytes(quince)} / {megabytes(rival)} MB",
        share(task, quince) if task["flops"] else "",
        goal_met(task, quince, rival),
    ]


def times_as_fast(quince, peer):
    """How many times as fast as the peer quince is, and who the peer is."""
    return f"{ratio(peer, quince)} x {short(peer['contestant'])}" if peer else ""


def goal_met(task, quince, rival):
    missed = []
    if time(rival) < task["target"] * time(quince):
        missed.append("speed")
    if quince["memory"] > task.get("memory", 1.0) * rival["memory"]:
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
    head = "contestant|best time, s|time / quince's|peak memory, MB|share of product peak|answer"
    return f"### {name}\n\n" + paragraph(" ".join(about)) + "\n\n" + table(head, "--|-:|-:|-:|-:|--", rows)


def environments(runs):
    """Every machine with its versions once, and the commits that were measured there."""
    groups = []
    for run in runs.values():
        same = next((group for group in groups if alike(group[1], run)), None)
        if same:
            same[0].append(run["commit"])
        else:
            groups.append(([run["commit"]], run))
    return groups


def alike(one, other):
    return one["machine"] == other["machine"] and one["versions"] == other["versions"]


def environment(commits, run):
    machine = run["machine"]
    about = (
        f"Commit{'s' * (len(commits) > 1)} {', '.join(commits)}: {machine['processor']} ({machine['vectors']}), "
        f"{machine['cores']} cores of which {machine['threads']} are used, {machine['memory']} memory."
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
    return f"{time(row):.3f}" + few_runs(row)


def few_runs(row):
    """How many runs a time is the best of, where these are fewer than the report promises."""
    runs = len(row["seconds"]) or 1
    if runs >= 5:
        return ""
    return " (one run)" if runs == 1 else f" ({runs} runs)"


def ratio(row, quince):
    return f"{time(row) / time(quince):.2f}" if row else ""


def megabytes(row):
    """With three digits, so that a goal met by little is seen to be met."""
    if row.get("memory") is None:
        return ""
    size = row["memory"] / 2**20
    return f"{size:.{2 if size < 10 else 1 if size < 100 else 0}f}"


def share(task, row):
    return f"{task['flops'] / time(row) / task['peak']:.0%}"


def kind(task):
    return short_type(task["dtype"])


def short_type(dtype):
    return dtype.replace("float", "f")


def short(name):
    return name.replace("scikit-learn-intelex", "intelex")


def paragraph(words, mark=""):
    """Wrapped lines; those of a list begin with its mark and stay in line with it."""
    return textwrap.fill(mark + " ".join(words.split()), 120, subsequent_indent=" " * len(mark))


def table(head, rule, rows):
    lines = [head.split("|"), rule.split("|"), *rows]
    return "\n".join("| " + " | ".join(cell or "" for cell in line) + " |" for line in lines)
