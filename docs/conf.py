# SPDX-License-Identifier: Apache-2.0
"""Sphinx configuration; built by make docs, which fails where a public name is undocumented."""

import dataclasses
import importlib
import inspect
import re

from sphinx.util import logging

import farfield

project = "Farfield"
copyright = "The Farfield authors"
version = release = farfield.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax"]
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3  # links to headings, named as on the pages of a repository
exclude_patterns = ["_build", "requirements.lock"]
html_theme = "furo"
html_title = "Farfield"
autodoc_default_options = {"members": True}
autodoc_member_order = "groupwise"
python_maximum_signature_line_length = 100
# A docstring is plain text, not markup: |x| and * mean themselves, and words are no references.
suppress_warnings = ["docutils", "ref.python"]

# What users import from; every name of it stands in the reference.
PUBLIC = (
    "farfield",
    "farfield.optimize",
    "farfield.engines",
    "farfield.tasks",
    "farfield.environments",
    "farfield.interop.torch",
    "farfield.interop.jax",
    "farfield.export",
    "farfield.executors",
    "farfield.optional",
)
NAMES = [
    (r"\b(?:farfield\.)?_core\.", ""),
    (r"\b(?:collections\.abc|numpy\.typing)\.", ""),
    (r"\b(?:numpy\.)?ndarray\[dtype=(\w+), shape=(\([^)]*\))[^]]*\]", r"ndarray[\1, \2]"),
    (r"\b(?:numpy\.)?ndarray\[dtype=(\w+)[^]]*\]", r"ndarray[\1]"),
]


def plain(text):
    """Types as a user would write them."""
    for pattern, name in NAMES:
        text = re.sub(pattern, name, text)
    return text


def shorten_signature(app, what, name, obj, options, signature, returns):
    return plain(signature or "") or None, plain(returns or "") or None


def shorten_docstring(app, what, name, obj, options, lines):
    """Docstrings are plain text: nothing in them is markup but ``code`` and lists."""
    lines[:] = [re.sub(r"(?<![`\w])([|*])", r"\\\1", plain(line)) for line in lines]


def public_names():
    for module_name in PUBLIC:
        module = importlib.import_module(module_name)
        names = getattr(module, "__all__", None) or [
            name
            for name, value in vars(module).items()
            if not name.startswith("_") and getattr(value, "__module__", None) == module_name
        ]
        yield from ((f"{module_name}.{name}", getattr(module, name)) for name in names if not name.startswith("_"))


def is_documented(owner, name, value):
    text = inspect.getdoc(value) or ""
    return bool(text) and not (text.startswith(f"{name}(") and "\n" not in text.strip())


def check_reference(app, env):
    """Every public name stands in the reference, and every public member of a class says what it is."""
    log = logging.getLogger(__name__)
    objects = env.get_domain("py").objects
    documented = [value for path, value in public_names() if path in objects]
    for path, value in public_names():
        if not any(value is other for other in documented):
            log.warning("%s: public, but not in the reference", path)
        if not inspect.isclass(value) or issubclass(value, BaseException):
            continue
        fields = {field.name for field in dataclasses.fields(value)} if dataclasses.is_dataclass(value) else ()
        for name, member in vars(value).items():
            shown = name not in fields and (callable(member) or isinstance(member, property))
            if shown and not name.startswith("_") and not is_documented(value, name, member):
                log.warning("%s.%s: public, but without a docstring", path, name)


def setup(app):
    app.connect("autodoc-process-signature", shorten_signature)
    app.connect("autodoc-process-docstring", shorten_docstring)
    app.connect("env-check-consistency", check_reference)
