"""Converts a folder of documents with one converter, or measures a command.

documents.py markitdown|docling SOURCES OUT   writes OUT/<file>.md, and .json if there is one
documents.py measure COMMAND...               prints its CPU seconds and peak memory as JSON
"""
import json
import logging
import os
import pathlib
import sys
import warnings

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)


def measure(command):
    child = os.posix_spawnp(
        command[0],
        command,
        os.environ,
        # Only what is measured may be printed.
        file_actions=[(os.POSIX_SPAWN_DUP2, 2, 1)],
    )
    _, status, used = os.wait4(child, 0)
    # Descendants that the command waited for are included: their time, and the largest of them.
    figures = {
        "status": os.waitstatus_to_exitcode(status),
        "cpu": used.ru_utime + used.ru_stime,
        "peak": used.ru_maxrss * 1024,
    }
    print(json.dumps(figures))


def markitdown():
    from markitdown import MarkItDown

    converter = MarkItDown()
    return lambda file: (converter.convert(str(file)).text_content, None)


def docling():
    from docling.document_converter import DocumentConverter

    converter = DocumentConverter()

    def convert(file):
        document = converter.convert(file).document
        return document.export_to_markdown(), json.dumps(document.export_to_dict())

    return convert


def convert_all(make, sources, out):
    convert = make()
    out.mkdir(parents=True, exist_ok=True)
    for file in sorted(sources.iterdir()):
        try:
            markdown, document = convert(file)
        except Exception as error:  # A file that fails scores 0.
            print(f"{file.name}: {type(error).__name__}: {error}"[:200], file=sys.stderr)
            continue
        (out / f"{file.name}.md").write_text(markdown)
        if document:
            (out / f"{file.name}.json").write_text(document)


if __name__ == "__main__":
    if sys.argv[1] == "measure":
        measure(sys.argv[2:])
    else:
        make = {"markitdown": markitdown, "docling": docling}[sys.argv[1]]
        convert_all(make, pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
