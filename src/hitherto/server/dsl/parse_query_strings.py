"""Reads the clauses whose query is written in a language of its own."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final, get_args

from hitherto.errors import shown
from hitherto.server.dsl import tree
from hitherto.server.dsl.asked_fields import AskedFields
from hitherto.server.dsl.parameters import Parameters, malformed
from hitherto.server.dsl.parse import QueryParser, minimum_should_match, parses
from hitherto.server.dsl.parse_fuzziness import fuzziness
from hitherto.server.dsl.parse_texts import analyzer, fields_with_boosts, operator
from hitherto.server.dsl.query_strings import QueryStrings
from hitherto.server.dsl.simple_query_strings import FLAGS, SimpleQueryStrings

_TYPES: Final = get_args(tree.MultiMatchType)
MOST_CHARACTERS: Final = 32_000
"""How long a text in either language may be: what OpenSearch's search.query.max_query_string_length is by default."""
_RESERVED: Final = re.compile(r'([+\-=&|><!(){}\[\]^"~*?:\\/])')


@parses("query_string")
def _query_string(parser: QueryParser, value: object) -> tree.Clause:
    given = Parameters("query_string", value)
    text = _text(given)
    if given.boolean("escape"):
        text = _RESERVED.sub(r"\\\1", text)
    for key in ("quote_analyzer", "quote_field_suffix", "rewrite", "fuzzy_rewrite"):
        given.text(key)
    for key in ("analyze_wildcard", "auto_generate_synonyms_phrase_query", "enable_position_increments"):
        given.boolean(key)
    given.integer("max_determinized_states", 10_000)
    joined = operator(given, "default_operator")
    asked = _asked(parser, given, joined)
    reader = QueryStrings(
        text,
        asked,
        joined=joined,
        least=minimum_should_match(given),
        leading_wildcard=given.boolean("allow_leading_wildcard", default=True),
        count=parser.count,
    )
    clause = tree.QueryString(text, reader.clause(), boost=given.boost(), name=given.name())
    given.done()
    return clause


@parses("simple_query_string")
def _simple_query_string(parser: QueryParser, value: object) -> tree.Clause:
    given = Parameters("simple_query_string", value)
    text = _text(given)
    given.text("quote_field_suffix")
    for key in ("analyze_wildcard", "auto_generate_synonyms_phrase_query"):
        given.boolean(key)
    joined = operator(given, "default_operator")
    asked = replace(_asked(parser, given, joined), tie_breaker=1.0)
    reader = SimpleQueryStrings(
        text, asked, joined=joined, least=minimum_should_match(given), flags=_flags(given), count=parser.count
    )
    clause = tree.QueryString(text, reader.clause(), boost=given.boost(), name=given.name())
    given.done()
    return clause


def _text(given: Parameters) -> str:
    text = given.required_text("query")
    if len(text) > MOST_CHARACTERS:
        raise malformed(
            f"[{given.clause}] query: Query string length exceeds max allowed length {MOST_CHARACTERS}; "
            f"actual length: {len(text)}"
        )
    return text


def _flags(given: Parameters) -> frozenset[str]:
    value = given.text("flags") or "ALL"
    named = frozenset(value.upper().replace("NEAR", "SLOP").split("|"))
    if not named <= FLAGS | {"ALL", "NONE"}:
        raise given.wrong("flags", value, "names out of " + ", ".join(sorted(FLAGS)) + ", joined by |")
    return FLAGS if "ALL" in named else named


def _asked(parser: QueryParser, given: Parameters, joined: tree.Operator) -> AskedFields:
    fields = fields_with_boosts(given)
    default = given.text("default_field") if given.clause == "query_string" else None
    if default is not None and fields:
        raise malformed("[query_string] query: [default_field] cannot be used together with [fields]")
    if default is not None:
        fields = fields_with_boosts(Parameters(given.clause, {"fields": default}))
    every = not fields or any("*" in name for name, _ in fields)
    how = tree.Matching(
        operator=joined, analyzer=analyzer(given), lenient=given.boolean("lenient", default=every)
    )
    near = _fuzziness(given)
    if given.clause != "query_string":
        return AskedFields(parser.mapping, fields, how, near)
    return AskedFields(
        parser.mapping,
        fields,
        how,
        near,
        given.integer("phrase_slop", 0),
        given.text("time_zone"),
        given.choice("type", "best_fields", _TYPES),
        given.number("tie_breaker", 0.0) if "tie_breaker" in given else None,
    )


def _fuzziness(given: Parameters) -> tree.Fuzziness:
    values = {
        "fuzziness": given.take("fuzziness", "AUTO"),
        "prefix_length": given.take("fuzzy_prefix_length", 0),
        "max_expansions": given.take("fuzzy_max_expansions", 50),
        "fuzzy_transpositions": given.take("fuzzy_transpositions", True),
    }
    found = fuzziness(Parameters(given.clause, values))
    if found is None:
        raise malformed(f"[{given.clause}] query: [fuzziness] must be 0, 1, 2 or AUTO, got {shown(None)}")
    return found
