"""`tensorloom explain TARGET`: what becomes of a step, stage by stage."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tensorloom.cli.actions import FINE, PROBLEMS, Action, add_json, show, single

if TYPE_CHECKING:
    from tensorloom.inspect.explain.explanation import Explanation
    from tensorloom.inspect.explain.programs import ProgramSteps


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "target",
        metavar="TARGET",
        help="a Python program, which is run; or a GraphDef, MetaGraph or SavedModel",
    )
    parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, help="the program's own arguments"
    )
    _add_options(parser)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--stage",
        metavar="NAME",
        help="show the graph after a stage; 'build', 'partition' and 'compile', too",
    )
    parser.add_argument("--node", metavar="NAME", help="show the whole life of a node")
    parser.add_argument("--diff", metavar="PASS", help="show what a pass changed")
    parser.add_argument(
        "--html", metavar="FILE", help="write a page with all of it, to be looked at"
    )
    parser.add_argument(
        "--trace", metavar="FILE", help="write the traced step as a Chrome trace (JSON)"
    )
    parser.add_argument(
        "--tensorboard",
        metavar="LOGDIR",
        help="write the traced step for the trace viewer of TensorBoard's profiler",
    )
    parser.add_argument(
        "--step",
        type=int,
        metavar="N",
        help="which step of a program, by its number in the list that is printed "
        "(default: the one that takes most of the time)",
    )
    parser.add_argument(
        "--compare",
        type=int,
        metavar="N",
        help="say what is different in step N of the program",
    )
    parser.add_argument(
        "--devices",
        type=int,
        default=0,
        metavar="N",
        help="of a model: make so many CPU devices",
    )
    parser.add_argument(
        "--fetch",
        default="",
        metavar="NAMES",
        help="of a model: tensors and operations, separated by ','",
    )
    parser.add_argument("--tag_set", help="of a model: tags, separated by ','")
    parser.add_argument("--signature_def", metavar="KEY", help="of a SavedModel")
    parser.add_argument(
        "--inputs", default="", help="of a model: 'NAME=FILE.npy', separated by ';'"
    )
    parser.add_argument(
        "--input_exprs",
        default="",
        help="of a model: 'NAME=EXPRESSION' in Python, with np, separated by ';'",
    )


def _execute(options: argparse.Namespace) -> int:
    if options.target.endswith(".py"):
        _mention_given_away(options.arguments)
        return _program(options)
    if options.arguments:  # a model has no arguments of its own
        _late_options().parse_args(options.arguments, options)
    if options.compare is not None:
        raise ValueError("--compare: a model has one step; name a program")
    _show(options, _of_model(options))
    return FINE


def _late_options() -> argparse.ArgumentParser:
    """Reads options of this command that stand after its target."""
    parser = argparse.ArgumentParser(prog="tensorloom explain TARGET", add_help=False)
    _add_options(parser)
    add_json(parser)
    return parser


def _mention_given_away(arguments: list[str]) -> None:
    """Says which of a program's arguments look as if they were meant for us."""
    known = _late_options()._option_string_actions
    given = [argument.partition("=")[0] for argument in arguments]
    ours = [name for name in given if name in known]
    if ours:
        print(
            f"tensorloom explain: the program is given {', '.join(ours)}; options of "
            "explain stand before the program",
            file=sys.stderr,
        )


def _program(options: argparse.Namespace) -> int:
    from tensorloom.cli.run import run_script
    from tensorloom.inspect.explain.programs import watched_runs

    with watched_runs() as steps:
        try:
            status = run_script(options.target, options.arguments)
        except SystemExit as end:
            status = (
                end.code if isinstance(end.code, int) else int(end.code is not None)
            )
    if status:
        print(
            f"tensorloom explain: the program ended with status {status}; its steps "
            "until then are explained",
            file=sys.stderr,
        )
    explanation = _chosen(options, steps)
    if explanation is None:
        return status or PROBLEMS
    if not options.json:
        for line in _step_lines(steps, explanation):
            print(line)
    if options.compare is not None:
        other = _step(steps, options.compare, "--compare")
        lines = explanation.compare(other).splitlines()
        show(options, {"compare": lines}, iter(lines))
        return status
    _show(options, explanation)
    return status


def _chosen(options: argparse.Namespace, steps: ProgramSteps) -> Explanation | None:
    longest = steps.longest
    if longest is None:
        print("tensorloom explain: the program ran no step", file=sys.stderr)
        return None
    if options.step is None:
        return longest.explanation
    return _step(steps, options.step, "--step")


def _step(steps: ProgramSteps, number: int, option: str) -> Explanation:
    """The step of that number."""
    if not 0 <= number < len(steps.steps):
        last = len(steps.steps) - 1
        raise ValueError(f"{option}: the program ran steps 0 to {last}")
    chosen: Explanation = steps.steps[number].explanation
    return chosen


def _step_lines(steps: ProgramSteps, chosen: Explanation) -> Iterator[str]:
    yield "   step     runs        ms  fetches and targets"
    for number, step in enumerate(steps.steps):
        signature = step.explanation.signature
        names = ", ".join([*signature.fetches, *signature.targets])
        mark = "->" if step.explanation is chosen else "  "
        yield (
            f"{mark}{number:5}{step.runs:9}{step.seconds * 1e3:10.2f}  "
            f"{names if len(names) <= 60 else names[:57] + '...'}"
        )
    yield ""


def _of_model(options: argparse.Namespace) -> Explanation:
    from tensorloom.cli.saved_models.inputs import read_inputs
    from tensorloom.inspect.explain.models import explain_model

    options.allow_pickle, options.input_examples = False, ""
    config = None
    if options.devices:
        from tensorloom.protos.config_pb2 import ConfigProto

        config = ConfigProto(device_count={"CPU": options.devices})
    return explain_model(
        options.target,
        [name for name in options.fetch.split(",") if name],
        read_inputs(options),
        options.tag_set,
        options.signature_def,
        config,
    )


def _show(options: argparse.Namespace, explanation: Explanation) -> None:
    from tensorloom.inspect.explain import report

    if options.html:
        from tensorloom.inspect.explain.html_page import write_page

        write_page(explanation, options.html, f"explain {options.target}")
        if not options.json:
            print(f"{options.html} is written")
    if options.trace:
        _write_trace(options.trace, explanation)
    if options.tensorboard:
        path = explanation.write_profile(options.tensorboard)
        if not options.json:
            print(f"{path} is written")
    if options.node:
        lines = report.node_lines(explanation, options.node)
        data = {
            "node": options.node,
            "events": [
                {"stage": e.stage, "text": e.text}
                for e in explanation.node(options.node)
            ],
        }
        show(options, data, lines)
    elif options.diff:
        show(
            options,
            {"diff": list(report.diff_lines(explanation, options.diff))},
            report.diff_lines(explanation, options.diff),
        )
    elif options.stage:
        show(
            options,
            {"stage": list(report.stage_lines(explanation, options.stage))},
            report.stage_lines(explanation, options.stage),
        )
    else:
        show(
            options,
            explanation.as_dict() if options.json else None,
            report.summary(explanation),
        )


def _write_trace(path: str, explanation: Explanation) -> None:
    from tensorloom.storage.files import filesystem

    filesystem.write_file(path, explanation.chrome_trace().encode())


COMMAND = single(
    Action(
        "explain",
        "say what becomes of a step: passes, placement, generated code, memory, time",
        _add_arguments,
        _execute,
    )
)
