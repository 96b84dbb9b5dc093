"""Runs the tests of docxtpl in a clone of it, and writes an example for each document that they make: the template, its data, and the
document. It needs python-docx, jinja2, and lxml. usage: capture.py CLONE OUT"""

import html
import json
import os
import re
import runpy
import sys
import types
import typing
from pathlib import Path

clone, out = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve() / "docxtpl"
count = 0


def absent(name, *names):
    """Stands in for a module that only subdocuments need."""
    module = types.ModuleType(name)
    for n in names:
        setattr(module, n, type(n, (), {}))
    sys.modules[name] = module


def plain(value, built):
    """Returns data as JSON has it. What Python builds becomes its text, and built gets the name of its class."""
    if isinstance(value, dict):
        return {str(k): plain(v, built) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v, built) for v in value]
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    built.add(type(value).__name__)
    return html.unescape(re.sub(r"<[^<>]*>", "", str(value)))


def main():
    try:
        import docxcompose  # noqa: F401
    except ImportError:
        absent("docxcompose")
        absent("docxcompose.utils", "NS", "xpath")
        absent("docxcompose.composer", "Composer")
        absent("docxcompose.properties", "CustomProperties")
    import docx.oxml
    import docx.oxml.section
    import docx.section
    import jinja2  # noqa: F401, before TYPE_CHECKING changes
    import lxml.etree  # noqa: F401

    if not hasattr(docx.oxml, "CT_SectPr"):  # older versions of python-docx
        docx.oxml.CT_SectPr = docx.oxml.section.CT_SectPr
    if not hasattr(docx.section.Section, "part"):
        docx.section.Section.part = property(lambda self: self._document_part)
    sys.path.insert(0, str(clone))
    typing.TYPE_CHECKING = True  # a class of docxtpl names another one that it imports only then
    from docxtpl import DocxTemplate

    render, save = DocxTemplate.render, DocxTemplate.save

    def recorded_render(self, context, *args, **kwargs):
        self.built = set()
        self.recorded = plain(context, self.built)
        return render(self, context, *args, **kwargs)

    def recorded_save(self, filename, *args, **kwargs):
        global count
        result = save(self, filename, *args, **kwargs)
        if hasattr(self, "recorded") and isinstance(filename, (str, Path)):
            count += 1
            folder = out / f"{count:04d}"
            folder.mkdir(parents=True, exist_ok=True)
            template = self.template_file
            content = template.getvalue() if hasattr(template, "getvalue") else Path(template).read_bytes()
            (folder / "template.docx").write_bytes(content)
            (folder / "data.json").write_text(json.dumps(self.recorded))
            (folder / "output.docx").write_bytes(Path(filename).read_bytes())
            (folder / "example.json").write_text(json.dumps({"test": str(filename), "code": sorted(self.built)}))
        return result

    DocxTemplate.render, DocxTemplate.save = recorded_render, recorded_save
    os.chdir(clone / "tests")
    Path("output").mkdir(exist_ok=True)
    for test in sorted(Path(".").glob("[A-Za-z]*.py")):
        if test.name == "runtests.py":
            continue
        try:
            runpy.run_path(str(test), run_name="__main__")
        except BaseException as error:  # a test that needs what is not installed
            print(f"{test}: {error!r}", file=sys.stderr)
    print(f"docxtpl: {count} documents in {out}")


main()
