"""The site: `make docs` builds it from these pages, the docstrings and the gallery."""

import inspect
import os
import re
import sys
from pathlib import Path

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from pygments.lexers.special import TextLexer
from sphinx.addnodes import download_reference, pending_xref
from sphinx.transforms import SphinxTransform
from sphinx.util.inspect import stringify_signature

import bestcut

sys.path.insert(0, str(Path(__file__).parent))
import docstrings

os.environ["MPLBACKEND"] = "agg"  # examples draw without a screen

# This also loads pandas, before Sphinx pretends that there is pyarrow.
PUBLIC = docstrings.public_names()

project = "bestcut"
author = "The bestcut developers"
project_copyright = author
version = release = bestcut.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
# What the benchmarks wrote is linked to as files, and not found by the search.
WRITTEN = "evidence/results"
# The search finds these by their titles only: who searches asks how to do something.
BY_TITLE = ("changelog", "how-it-works/lemmas")
exclude_patterns = ["figures", "evidence/figures", WRITTEN]
default_role = "name"  # see below
smartquotes = False  # quotes are part of what users type

# Pages, which a code host shows as well: links and anchors are as it makes them.
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_dmath_allow_space = False  # amounts in dollars are no mathematics
myst_dmath_allow_digits = False
myst_heading_anchors = 4

# The reference.
autosummary_generate = True
autosummary_context = {
    # Autosummary would take what a decorator of an engine made for a constant.
    "functions": [path for path in PUBLIC if inspect.isfunction(PUBLIC[path])],
    "described": {
        path: list(docstrings.members(thing)) for path, thing in PUBLIC.items()
    },
}
autodoc_mock_imports = list(docstrings.MOCKED)
autodoc_typehints = "none"  # the parameters say their types in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the template lists them
numpydoc_use_plots = False

# The gallery.
sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "reference/generated/examples",
    "doc_module": ("bestcut",),
    "abort_on_example_error": True,
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
    "remove_config_comments": True,
    "copyfile_regex": r".*\.rst",
}

# How it looks. Nothing is loaded from elsewhere: fonts and scripts are inside.
html_theme = "pydata_sphinx_theme"
html_title = "bestcut"
html_math_renderer = "mathml"  # see below
html_favicon = "_static/icon.svg"
html_static_path = ["_static"]
html_css_files = ["bestcut.css"]
html_js_files = ["site.js"]
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system is
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "bestcut"},
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "show_toc_level": 2,
    "show_prev_next": True,
    "navigation_with_keys": False,
    "search_bar_text": "Search the documentation",
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {"index": [], "changelog": [], "contributing": []}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


# `bestcut.decide(p)`, `multiclass.decide`, `decide_each` or `Certain` in a page.
NAME = re.compile(r"(?:bestcut\.)?([A-Za-z_][\w.]*)(?:\(.*\))?", re.DOTALL)


def short_names():
    """Return names that say by themselves what they are: no words, no attributes."""
    classes = [thing for thing in PUBLIC.values() if inspect.isclass(thing)]
    attributes = {name for thing in classes for name in docstrings.attributes(thing)}
    short = {}
    for path, thing in PUBLIC.items():
        name = path.rpartition(".")[2]
        if (inspect.isclass(thing) or "_" in name) and name not in attributes:
            short.setdefault(name, path)
    return short


SHORT = short_names()


def public_name(text):
    """Return the public name that code in a sentence stands for, or None."""
    found = NAME.fullmatch(text)
    if found is None:
        return None
    name = f"bestcut.{found[1]}"
    if name in PUBLIC and ("." in found[1] or text.startswith("bestcut.")):
        return name
    return SHORT.get(found[1])


def linked(code, docname):
    """Return code as a link to the reference, or as it is if it names nothing there."""
    name = public_name(code.astext())
    if name is None:
        return code
    where = {"refdomain": "py", "reftype": "obj", "reftarget": name, "refdoc": docname}
    return pending_xref("", code.deepcopy(), **where)


def name_role(role, rawtext, text, lineno, inliner, options=None, content=None):
    """Show what docstrings have in single backticks: public names, or parameters."""
    docname = inliner.document.settings.env.docname
    return [linked(nodes.literal(rawtext, text), docname)], []


def link_names(app, doctree):
    """Let names in the sentences and tables of pages lead to the reference."""
    for code in list(doctree.findall(nodes.literal)):
        if not isinstance(code.parent, (nodes.reference, nodes.title, pending_xref)):
            code.replace_self(linked(code, app.env.docname))


class LinkToFiles(SphinxTransform):
    """Let links to what the benchmarks wrote lead to the files themselves."""

    default_priority = 500

    def apply(self, **kwargs):
        """Replace links to pages that are not part of the site."""
        for link in list(self.document.findall(pending_xref)):
            if link["reftarget"].startswith(WRITTEN):
                file = f"/{link['reftarget']}.md"
                text = link.astext()
                kept = download_reference(text, "", reftarget=file)
                kept += nodes.inline(text, text)
                link.replace_self(kept)


def choose_signature(app, what, name, thing, options, signature, returned):
    """Leave out how results are made; show how classes of engines are made."""
    if what == "class" and docstrings.is_result(thing):
        return "", returned
    if what == "class" and signature == "(*args, **kwargs)":
        made_by = inspect.signature(thing.__init__)
        _self, *others = made_by.parameters.values()
        bare = made_by.replace(parameters=others)
        return stringify_signature(bare, show_annotation=False), None
    return None


def leave_out_of_search(app, doctree):
    """Let the search know pages for reviewers by their titles only."""
    if app.env.docname in BY_TITLE:
        app.env.metadata[app.env.docname]["nosearch"] = "true"


def show_formula(translator, node):
    """Write a formula as MathML, which browsers show without a script."""
    markup = tex2mathml(node.astext())
    if isinstance(node, nodes.math_block):
        shown = markup.replace("<math ", '<math display="block" ', 1)
        markup = f'<div class="math">{shown}</div>'
    translator.body.append(markup)
    raise nodes.SkipNode


def link_pages(app, what, name, thing, options, lines):
    """Let the pages that docstrings name be links."""
    for i, line in enumerate(lines):
        lines[i] = re.sub(r"`*docs/([\w/-]+)\.md`*", r":doc:`/\1`", line)


def setup(app):
    """Show comma-separated values as they are, and names as links."""
    app.add_lexer("csv", TextLexer)
    app.add_role("name", name_role)
    app.add_transform(LinkToFiles)
    app.add_html_math_renderer(
        "mathml",
        inline_renderers=(show_formula, None),
        block_renderers=(show_formula, None),
    )
    app.connect("doctree-read", link_names)
    app.connect("doctree-read", leave_out_of_search)
    app.connect("autodoc-process-signature", choose_signature)
    app.connect("autodoc-process-docstring", link_pages)
