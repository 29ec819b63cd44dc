"""One contestant in a process of its own: `worker.py TASK CONTESTANT GIVEN ANSWERS REFERENCE`.

Reads the arrays of folder GIVEN (and the reference's answer, if it is there), prepares, says {"ready": true}, and then
runs once for each line "run" on stdin, answering with one line of JSON:

    {"seconds": 0.123, "memory": 4567890, "fallback": false}

The first run also measures how far memory grows and writes the answer as .npy files into folder ANSWERS, so the first
time is a warm-up. Whatever goes wrong is answered with {"error": "..."}. `rust-peers` speaks the same protocol.
"""

import gc
import json
import logging
import os
import sys
import time
import warnings
from pathlib import Path


def main(task, contestant, *folders):
    # Libraries print; the protocol keeps the true stdout for itself.
    protocol = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(**message):
        print(json.dumps(message), file=protocol, flush=True)

    try:
        for message in serve(task, contestant, *map(Path, folders)):
            say(**message)
    except Exception as error:
        say(error=f"{type(error).__name__}: {error}")


def serve(task_name, contestant_name, given_folder, answer_folder, reference_folder):
    from task import Given, load, save
    from tasks import TASKS

    warnings.simplefilter("ignore")
    task = next(task for task in TASKS if task.name == task_name)
    contestant = next(each for each in task.contestants if each.name == contestant_name)
    run = contestant.prepare(Given(load(given_folder), load(reference_folder)))
    yield {"ready": True}

    first = True
    for line in sys.stdin:
        if line.strip() != "run":
            break
        if first:
            watch = Intelex()
            gc.collect()
            resident = reset_peak()
        started = time.perf_counter()
        answer = run()
        message = {"seconds": time.perf_counter() - started}
        if first:
            message["memory"] = max(0, status("VmHWM") - resident)
            message["fallback"] = watch.stop() if contestant.library == "scikit-learn-intelex" else False
            save(answer_folder, answer)
            first = False
        # What a run made is freed before the next one, outside the time.
        del answer
        yield message


def reset_peak():
    """Sets the peak of memory back to what is resident now, and returns that."""
    Path("/proc/self/clear_refs").write_text("5")
    return status("VmRSS")


def status(field):
    """A number of bytes from Linux's account of this process."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"/proc/self/status has no {field}")


class Intelex(logging.Handler):
    """Listens to what scikit-learn-intelex says of itself: has it run its own code, or scikit-learn's?"""

    def __init__(self):
        super().__init__()
        self.messages = []
        self.logger = logging.getLogger("sklearnex")
        self.before = self.logger.level, self.logger.handlers
        self.logger.setLevel(logging.INFO)
        self.logger.handlers = [self]

    def emit(self, record):
        self.messages.append(record.getMessage())

    def stop(self):
        """Back to silence; true if anything ran that was not accelerated."""
        level, self.logger.handlers = self.before
        self.logger.setLevel(level)
        runs = [message for message in self.messages if "running" in message or "fallback" in message]
        return not runs or any("running accelerated version" not in message for message in runs)


if __name__ == "__main__":
    main(*sys.argv[1:])
