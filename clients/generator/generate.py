"""Writes the wrappers of operations of one language.

Usage: python clients/generator/generate.py go|cpp|java|javascript|rust FILE
"""

from __future__ import annotations

import sys
from pathlib import Path

import jinja2
from op_model import all_ops, camel, snake

# Words that are no names of parameters. One with an underscore after it is.
_RESERVED = {
    "go": "break case chan const continue default defer else fallthrough for func go"
    " goto if import interface map package range return select struct switch type var"
    " scope op attrs string int64 float32 bool output outputs end",
    "cpp": "and bool break case catch char class const continue default delete do"
    " double else enum explicit export extern false float for friend goto if inline int"
    " long namespace new not operator or private protected public register return"
    " short signed sizeof static struct switch template this throw true try typedef"
    " union unsigned using virtual void volatile while xor scope op",
    "java": "abstract assert boolean break byte case catch char class const"
    " continue default do double else enum extends final finally float for goto if"
    " import instanceof int interface long native new package private protected"
    " public return short static super switch this throw throws transient try void"
    " volatile while scope op attrs results",
    "javascript": "arguments await break case catch class const continue debugger"
    " default delete do else enum eval export extends false finally for function if"
    " import in instanceof new null return static super switch this throw true try"
    " typeof var void while with yield scope attrs",
    "rust": "as async await box break const continue crate dyn else enum extern false"
    " final fn for if impl in let loop macro match mod move mut override priv pub ref"
    " return self static struct super trait true try type typeof unsafe unsized use"
    " virtual where while yield scope op",
}


def main(language: str, target: str) -> None:
    """Renders the template of a language."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        autoescape=False,
    )
    reserved = set(_RESERVED[language].split())

    def name(text: str) -> str:
        plain = snake(text) if language == "rust" else camel(text, upper=False)
        return plain + "_" if plain in reserved else plain

    environment.filters.update(
        name=name, camel=lambda text: camel(text, upper=True), snake=snake
    )
    text = environment.get_template(f"{language}.jinja").render(ops=all_ops())
    path = Path(target)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
