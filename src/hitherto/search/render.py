"""Markup: the only place that writes it. What comes out is always well-formed XML.

A block is an element named after the record's type, with one element per line inside. Values are escaped; a
character that XML cannot hold becomes U+FFFD. A metadata key is the element's name where it is a legal one, else
``<entry key="…">``, so that no key is lost.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from xml.parsers.expat import ExpatError, ParserCreate

from hitherto.messages import content_text
from hitherto.records import Record, RecordStatus, ScopedRecord

if TYPE_CHECKING:
    from hitherto.relations import RecordRelation
    from hitherto.search.result import SearchResult

INDENT: Final = "  "
OWN_METADATA: Final = "$agent_memory"

# The colon is left out: it would make a namespace prefix of what stands before it.
_NAME_SHAPE: Final = re.compile(r"[^\W\d][\w.\-·]*")
_ILLEGAL: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class FormatOptions:
    """What a rendering shows, every option decided."""

    include_invalid_results: bool
    show_thread_id: bool
    show_distance: bool
    show_timestamp: bool
    show_role: bool
    show_user_id: bool
    show_agent_id: bool
    show_status: bool
    show_metadata: bool


@functools.lru_cache(maxsize=4096)
def is_name(text: str) -> bool:
    """Return whether a text may name an element.

    The editions of XML differ in what a letter is; the parser that most programs use decides.

    Examples:
        >>> is_name("ключ"), is_name("2nd"), is_name("a:b")
        (True, False, False)
    """
    if not _NAME_SHAPE.fullmatch(text):
        return False
    try:
        ParserCreate().Parse(f"<{text}/>", True)
    except (ExpatError, UnicodeError):
        return False
    return True


def escape(value: object) -> str:
    """Return a value as text that may stand inside an element.

    Args:
        value: Anything; its ``str`` without outer white space is used.

    Examples:
        >>> escape(" a < b & c ")
        'a &lt; b &amp; c'
    """
    return escape_as_is(str(value).strip())


def escape_as_is(text: str) -> str:
    """Return a text that may stand inside an element, with its outer white space."""
    text = _ILLEGAL.sub("\ufffd", text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def element(name: str, value: object) -> str:
    """Return one element with a text in it; a name that is not legal becomes the key of an ``entry``.

    Examples:
        >>> element("status", "valid"), element("2nd try", 1)
        ('<status>valid</status>', '<entry key="2nd try">1</entry>')
    """
    if is_name(name):
        return f"<{name}>{escape(value)}</{name}>"
    return f'<entry key="{_attribute(name)}">{escape(value)}</entry>'


def _attribute(value: str) -> str:
    # A parser would turn line breaks and tabs in an attribute into blanks, so they are written as references.
    text = _ILLEGAL.sub("\ufffd", value)
    for char, reference in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        text = text.replace(char, reference)
    return text.replace("\t", "&#9;").replace("\n", "&#10;").replace("\r", "&#13;")


def indent(block: str, depth: int = 1) -> str:
    """Return a block with every line moved to the right, empty lines too."""
    return "\n".join(INDENT * depth + line for line in block.split("\n"))


def render_result(result: SearchResult, options: FormatOptions) -> str:
    """Return a search result as a block.

    Args:
        result: The result; what is linked to it is rendered with the same options.
        options: What to show.

    Returns:
        The block without a final line break; "" where an invalid record was to be left out and nothing valid
        hangs on it.
    """
    children = [
        (relation, block)
        for relation, child in result.linked_results
        if (block := render_result(child, options))
    ]
    hidden = not options.include_invalid_results and result.status == RecordStatus.INVALID
    if hidden and not children:
        return ""
    record = result.record
    lines = list(_lines(record, result.distance, options, with_content=not hidden))
    if children:
        lines.append("<linked_records>")
        lines.extend(indent(_linked(record, relation, block)) for relation, block in children)
        lines.append("</linked_records>")
    opening, closing = _tags(str(record.record_type))
    # Only nested blocks are moved as a whole; the further lines of a text stay where they are.
    body = [indent(line) if line.startswith("  <linked_record>") else INDENT + line for line in lines]
    return "\n".join([opening, *body, closing])


def _tags(record_type: str) -> tuple[str, str]:
    if is_name(record_type):
        return f"<{record_type}>", f"</{record_type}>"
    return f'<record type="{_attribute(record_type)}">', "</record>"


def _linked(parent: Record, relation: RecordRelation, block: str) -> str:
    seen_from_target = relation.target_record_id == parent.id
    label = (relation.opposite_relation_type if seen_from_target else None) or relation.relation_type
    inner = f"{element('relation_type', label)}\n{block}"
    return f"<linked_record>\n{indent(inner)}\n</linked_record>"


def _lines(record: Record, distance: Any, options: FormatOptions, *, with_content: bool) -> Iterator[str]:
    owner = record if isinstance(record, ScopedRecord) else None
    shown: list[tuple[str, object]] = [("record_id", record.id)]
    if options.show_thread_id and owner:
        shown.append(("thread_id", owner.thread_id))
    if options.show_distance:
        shown.append(("estimated_relevance", str(1.0 - distance)))
    if options.show_timestamp:
        shown.append(("timestamp", record.timestamp))
    if options.show_role and record.record_type == "message":
        shown.append(("role", getattr(record, "role", None)))
    if options.show_user_id and owner:
        shown.append(("user_id", owner.user_id))
    if options.show_agent_id and owner:
        shown.append(("agent_id", owner.agent_id))
    if options.show_status:
        shown.append(("status", getattr(record.status, "value", record.status)))
    yield from (element(name, value) for name, value in shown if value and str(value).strip())
    if options.show_metadata:
        yield from (element(str(key), value) for key, value in _metadata(record.metadata))
    if with_content and (text := content_text(record.content).strip()):
        yield element("content", text)


def _metadata(metadata: Any) -> Iterator[tuple[object, object]]:
    if not isinstance(metadata, dict):
        return
    for key, value in metadata.items():
        if key != OWN_METADATA:
            yield key, value
    own = metadata.get(OWN_METADATA)
    if isinstance(own, dict) and own.get("invalidation_reason") is not None:
        yield "invalidation_reason", own["invalidation_reason"]
