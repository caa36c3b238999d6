"""Numbers for the words, or the bytes, of documents."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import numpy as np

from tensorloom.contrib.learn.preprocessing.categorical_vocabulary import (
    CategoricalVocabulary,
)
from tensorloom.framework.export import export, export_value
from tensorloom.storage.files.file_io import GFile

# Abbreviations, words that begin in capitals within others, and other words.
TOKENIZER_RE: Final = re.compile(
    r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|[\'\w\-]+", re.UNICODE
)
export_value(TOKENIZER_RE, "contrib.learn.preprocessing.TOKENIZER_RE")


@export("contrib.learn.preprocessing.tokenizer")
def tokenizer(iterator: Iterable[str]) -> Iterator[list[str]]:
    """The words of each text, as `TOKENIZER_RE` finds them."""
    for text in iterator:
        yield TOKENIZER_RE.findall(text)


@export("contrib.learn.preprocessing.ByteProcessor")
class ByteProcessor:
    """Documents as the numbers of their bytes.

    Args:
      max_document_length: bytes of each; shorter ones are filled up with zeros.
    """

    def __init__(self, max_document_length: int) -> None:
        self.max_document_length = max_document_length

    def fit(self, x: Iterable[Any]) -> None:
        """Does nothing: bytes need not be learned."""

    def fit_transform(self, x: Iterable[Any]) -> Iterator[Any]:
        """`transform`."""
        return self.transform(x)

    def reverse(self, x: Iterable[Any]) -> Iterator[str]:
        """The texts of rows of bytes; empty where they are not UTF-8."""
        for row in x:
            document = np.trim_zeros(row.astype(np.int8), trim="b").tobytes()
            try:
                yield document.decode("utf-8")
            except UnicodeDecodeError:
                yield ""

    def transform(self, x: Iterable[str | bytes]) -> Iterator[Any]:
        """The documents as uint8 arrays [max_document_length]."""
        for document in x:
            content = document.encode() if isinstance(document, str) else document
            row = np.frombuffer(content[: self.max_document_length], dtype=np.uint8)
            yield np.pad(row, (0, self.max_document_length - len(row)), "constant")


@export("contrib.learn.preprocessing.VocabularyProcessor")
class VocabularyProcessor:
    """Documents as the numbers of their words; 0 stands for unknown words.

    Args:
      max_document_length: words of each; shorter ones are filled up with zeros.
      min_frequency: words that occur so often, or less, are unknown.
      vocabulary: a `CategoricalVocabulary`; made by `fit` when None.
      tokenizer_fn: from texts to lists of words; `tokenizer` when None.
    """

    def __init__(
        self,
        max_document_length: int,
        min_frequency: int = 0,
        vocabulary: CategoricalVocabulary | None = None,
        tokenizer_fn: Callable[[Iterable[str]], Iterable[list[str]]] | None = None,
    ) -> None:
        self.max_document_length = max_document_length
        self.min_frequency = min_frequency
        self.vocabulary_ = vocabulary or CategoricalVocabulary()
        self._tokenizer = tokenizer_fn or tokenizer

    def fit(
        self, raw_documents: Iterable[str], unused_y: Any = None
    ) -> VocabularyProcessor:
        """Learns the words of the documents, then freezes."""
        for tokens in self._tokenizer(raw_documents):
            for token in tokens:
                self.vocabulary_.add(token)
        if self.min_frequency > 0:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def fit_transform(
        self, raw_documents: Iterable[str], unused_y: Any = None
    ) -> Iterator[Any]:
        """`fit`, then `transform`."""
        self.fit(raw_documents)
        return self.transform(raw_documents)

    def transform(self, raw_documents: Iterable[str]) -> Iterator[Any]:
        """The documents as int64 arrays [max_document_length]."""
        for tokens in self._tokenizer(raw_documents):
            word_ids = np.zeros(self.max_document_length, np.int64)
            for index, token in enumerate(tokens[: self.max_document_length]):
                word_ids[index] = self.vocabulary_.get(token)
            yield word_ids

    def reverse(self, documents: Iterable[Iterable[int]]) -> Iterator[str]:
        """The words of rows of numbers, with blanks between them."""
        for row in documents:
            yield " ".join(self.vocabulary_.reverse(number) for number in row)

    def save(self, filename: Any) -> None:
        """Writes the processor into a file."""
        with GFile(filename, "wb") as file:
            file.write(pickle.dumps(self))

    @classmethod
    def restore(cls, filename: Any) -> Any:
        """Reads a processor from a file that `save` wrote.

        The file is a pickle, which can run any code: read only what you trust.
        """
        with GFile(filename, "rb") as file:
            return pickle.loads(file.read())
